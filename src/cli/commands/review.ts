import type { Command } from 'commander'
import { z } from 'zod'
import { Ganglion, type GanglionError } from '#client'
import { TestEffects } from '../../contract/answer-tests.ts'
import {
  Approval,
  AwaitedApproval,
  CandidateComment,
  CandidateState,
  ChangeRequest,
  Dismissal,
} from '../../contract/candidates.ts'
import { errorTable } from '../../contract/errors.ts'
import { ObjectId } from '../../contract/identifiers.ts'
import { awaitingText } from '../../rules/deciding.ts'
import { effectLines } from '../../rules/effect-lines.ts'
import { UsageError } from '../cli-errors.ts'
import { type ApiServer, parseInput } from '../client/api-server.ts'
import { readAnswer } from '../client/server-problem.ts'
import { askServer } from '../command.ts'
import { argument, flag, option } from '../options.ts'

/** Maximum bytes of a comment from standard input. No comment is longer than that in UTF-8. */
const maxComment = 64 * 1024

/** Schema of a candidate's id or ref. Parses to the id. */
export const CandidateName = z
  .string()
  .transform((text) => /^refs\/candidates\/([^/]+)\/head$/.exec(text)?.[1] ?? text)
  .pipe(z.uuid('must be the id of a candidate, or refs/candidates/<id>/head'))

const Options = z.object({
  candidate: argument(CandidateName, 'its id, or refs/candidates/<id>/head'),
  approve: flag('make it a Neuron', 'dismiss'),
  dismiss: flag('take it out of the queue'),
  comment: option(
    z.string().optional(),
    '<text>',
    'comment on it, before the verdict if there is one; - reads standard input',
  ),
  requestChanges: option(ChangeRequest.shape.reason.optional(), '<text>', 'request changes before it is approved', {
    conflicts: ['approve', 'dismiss'],
  }),
  lines: option(
    ChangeRequest.shape.lines,
    '<from-to>',
    'with --request-changes: the lines of the text that it is about',
  ),
  assign: option(
    z.string().optional(),
    '<curator>',
    'assign it to a curator: an e-mail, the name of a key, or "" for nobody',
  ),
  reason: option(Dismissal.shape.reason.optional(), '<text>', 'why it is dismissed'),
  head: option(
    ObjectId.optional(),
    '<commit>',
    'the commit of its ref that was reviewed; the decision is refused if it has changed since',
  ),
})
type Review = z.output<typeof Options>

export function addReviewCommand(program: Command): void {
  const command = program
    .command('review')
    .description('approve, dismiss, assign or comment on a candidate, through the API of a running server')
  const example = 'ganglion review "$ID" --approve --head "$(git rev-parse FETCH_HEAD)" --url https://kb.example.org'
  askServer(command, Options, { key: "a curator's API key", example }, async (review, server) => {
    const { approve, dismiss, comment, requestChanges, assign, reason } = review
    if ([approve, dismiss, comment, requestChanges, assign].every((option) => option === undefined))
      throw new UsageError('one of --approve, --dismiss, --request-changes, --assign and --comment is needed')
    if (review.lines !== undefined && requestChanges === undefined)
      throw new UsageError('--lines goes with --request-changes')
    if (reason !== undefined && !dismiss)
      throw new UsageError('--reason goes with --dismiss; --comment with the others')
    const { answer, text } = await send(server, review, await commentOf(review))
    return { json: answer, text }
  })
}

async function commentOf({ comment }: Review): Promise<string | undefined> {
  if (comment === undefined) return undefined
  return parseInput(
    CandidateComment.shape.comment,
    comment === '-' ? (await readInput(maxComment)).trimEnd() : comment,
    '--comment',
  )
}

/** Reads standard input. @param most maximum number of bytes */
export async function readInput(most: number): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > most) throw new UsageError(`standard input: must be at most ${most / 1024} KB`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8')
}

/** Posts the comment, then the verdict. @throws {Error} with a sentence that names the rejected one and the reason */
async function send(
  server: ApiServer,
  { candidate, approve, dismiss, reason, head, requestChanges, lines, assign }: Review,
  comment: string | undefined,
): Promise<{ answer: unknown; text: string }> {
  // Does not retry, so that a person sees at once that the server is unreachable.
  const { candidates } = new Ganglion({ ...server, timeout: 30_000, retries: 0 })
  const sentences = sentencesFor({ candidate, head })
  const recorded = comment === undefined ? '' : 'The comment is recorded, the verdict is not. '
  const verdictOf = <Schema extends z.ZodType>(asked: Promise<unknown>, schema: Schema) =>
    readAnswer(asked, schema, server, sentences).catch((error: Error) => {
      throw new Error(`${recorded}${error.message}`)
    })
  const said: string[] = []
  let answer: unknown
  if (comment !== undefined) {
    const state = await readAnswer(
      candidates.comment(candidate, { comment, ...(head && { head }) }),
      CandidateState,
      server,
      sentences,
    )
    said.push(`Commented on ${candidate}, which is ${state.status}.`)
    answer = state
  }
  if (approve) {
    const effects = await candidates.get(candidate).then(
      (read) => TestEffects.safeParse(read.effects).data,
      () => undefined,
    )
    const asked = candidates.approve(candidate, { ...(head && { head }) })
    const approval = await verdictOf(asked, Approval.or(AwaitedApproval))
    said.push(
      ...(effects === undefined ? [] : effectLines(effects)),
      approval.status === 'approved'
        ? `Approved ${candidate}: ${approval.seqId}, commit ${approval.commit}.`
        : `Your approval of ${candidate} is recorded. ${awaitingText(approval.awaiting)}`,
    )
    answer = approval
  }
  if (requestChanges !== undefined) {
    const asked = candidates.requestChanges(candidate, {
      ...{ reason: requestChanges, ...(lines && { lines }), ...(head && { head }) },
    })
    answer = await verdictOf(asked, CandidateState)
    said.push(`Asked for changes of ${candidate}.`)
  }
  if (assign !== undefined) {
    answer = await verdictOf(candidates.assign(candidate, assign === '' ? null : assign), CandidateState)
    said.push(assign === '' ? `Assigned ${candidate} to nobody.` : `Assigned ${candidate} to ${assign}.`)
  }
  if (dismiss) {
    const why = { ...(reason && { reason }), ...(head && { head }) }
    answer = await verdictOf(candidates.dismiss(candidate, why), CandidateState)
    said.push(`Dismissed ${candidate}.`)
  }
  return { answer, text: said.join('\n') }
}

function sentencesFor({ candidate, head }: Pick<Review, 'candidate' | 'head'>) {
  return {
    stale_head: ({ body }: GanglionError) => {
      const now = ObjectId.safeParse(body.head).data
      return `The candidate no longer proposes what ${head} does: ${now === undefined ? 'it has no head now' : `its head is ${now}`}.`
    },
    not_found: () => 'There is no such candidate for this key.',
    insufficient_role: () => 'The key in GANGLION_KEY is not that of a curator.',
    merge_conflict: () =>
      `${errorTable.merge_conflict.message} To settle it: git fetch origin refs/candidates/${candidate}/head, merge it into main, and push.`,
  }
}
