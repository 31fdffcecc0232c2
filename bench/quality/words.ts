/** The words of a question: runs of letters, marks and digits. */
export function wordsOf(question: string): string[] {
  return question.match(/[\p{L}\p{M}\p{N}]+/gu) ?? []
}
