import type { Answer } from './answerer.ts'
import { extractName } from './refused-answer.ts'

/** What begins a block of its own: a blank line, an item of a list, a heading. */
const blockStart = /\n(?=[ \t]*\n|[ \t]*(?:[-*+]|\d+[.)])[ \t]|#{1,6} )/
const fenced = /^ {0,3}(`{3,}|~{3,})[\s\S]*?(?:^ {0,3}\1.*$|$(?![\s\S]))/gm
/** A heading, a line that announces what follows, a rule, or nothing; of a block without white space around it, which takes linear time. */
const claimsNothing = /^(?:#{1,6}(?: .*)?|[^\n]*[:：]|[-*_\s]*)$/

/** How much of an answer is cited: of a model's, whether each paragraph and each item of a list has a citation. An extract is made of citations. */
export function groundedIn({ text, cited, answeredBy }: Answer): 'true' | 'partly' | 'false' {
  if (cited.length === 0) return 'false'
  if (answeredBy === extractName) return 'true'
  const claims = text
    .replace(fenced, '')
    .split(blockStart)
    .filter((block) => !claimsNothing.test(block.trim()))
  return claims.every((block) => cited.some((seqId) => block.includes(`[${seqId}]`))) ? 'true' : 'partly'
}
