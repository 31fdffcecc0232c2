/** Result for one knowledge base. A problem is a violated rule, a note is information. */
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

/** Returns the first lines, and a line with the number of the others. */
export function firstOf(lines: readonly string[], limit = 20): string[] {
  return lines.length <= limit ? [...lines] : [...lines.slice(0, limit), `… and ${lines.length - limit} more`]
}

/** Returns the first messages as problems. */
export function problems(kind: VerifyProblem['kind'], messages: readonly string[]): VerifyProblem[] {
  return firstOf(messages).map((message) => ({ kind, message }))
}

/** Adds the first messages to the problems found. */
export function addProblems(found: KbVerification, kind: VerifyProblem['kind'], ...messages: readonly string[]): void {
  found.problems.push(...problems(kind, messages))
}
