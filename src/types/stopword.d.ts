declare module 'stopword' {
  /** Stop words by language (ISO 639-3). */
  const lists: Readonly<Record<string, readonly string[] | undefined>>
  export = lists
}
