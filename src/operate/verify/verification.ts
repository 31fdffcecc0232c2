/** What verifying one knowledge base found: a problem is a rule broken, a note something to know. */
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

/** The first of many, and how many more there are. */
export function firstOf(lines: readonly string[], limit = 20): string[] {
  return lines.length <= limit ? [...lines] : [...lines.slice(0, limit), `… and ${lines.length - limit} more`]
}

export function problems(kind: VerifyProblem['kind'], messages: readonly string[]): VerifyProblem[] {
  return firstOf(messages).map((message) => ({ kind, message }))
}
