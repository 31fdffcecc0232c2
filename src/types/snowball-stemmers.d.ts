declare module 'snowball-stemmers' {
  /** Creates a stemmer. @throws for an algorithm that `algorithms()` does not name */
  export function newStemmer(algorithm: string): { stem(word: string): string }
}
