/** Result for one knowledge base: a problem is a broken rule, a note is information. */
export type KbVerification = {
  id: string
  slug: string | null
  problems: VerifyProblem[]
  notes: string[]
}

export type VerifyProblem = {
  kind:
    | 'database'
    | 'owner'
    | 'repository'
    | 'ref'
    | 'settings'
    | 'file'
    | 'candidate'
    | 'approval'
    | 'seqId'
    | 'projection'
    | 'search'
    | 'source'
  message: string
}

/** Returns the first of many lines, and the number of the others. */
export function firstOf(lines: readonly string[], limit = 20): string[] {
  return lines.length <= limit ? [...lines] : [...lines.slice(0, limit), `… and ${lines.length - limit} more`]
}

/** Returns the first of some messages as problems. */
export function problems(kind: VerifyProblem['kind'], messages: readonly string[]): VerifyProblem[] {
  return firstOf(messages).map((message) => ({ kind, message }))
}

/** Adds the first of some messages to what is found. */
export function addProblems(found: KbVerification, kind: VerifyProblem['kind'], ...messages: readonly string[]): void {
  found.problems.push(...problems(kind, messages))
}
