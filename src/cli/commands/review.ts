import { type Command, Option } from 'commander'
import { z } from 'zod'
import { Approval, CandidateComment, CandidateState, Dismissal } from '../../contract/candidates.ts'
import { ObjectId } from '../../contract/identifiers.ts'
import { UsageError } from '../cli-errors.ts'
import { ApiRefusal, type ApiServer, post } from '../client/api-client.ts'
import { parseInput, serverOf } from '../client/api-server.ts'

/** More than any comment has, in UTF-8. */
const maxInputBytes = 64 * 1024

const Options = z.object({
  candidate: z
    .string()
    .transform((text) => /^refs\/candidates\/([^/]+)\/head$/.exec(text)?.[1] ?? text)
    .pipe(z.uuid('must be the id of a candidate, or refs/candidates/<id>/head')),
  approve: z.literal(true).optional(),
  dismiss: z.literal(true).optional(),
  comment: z.string().optional(),
  reason: Dismissal.shape.reason.optional(),
  head: ObjectId.optional(),
  json: z.literal(true).optional(),
})
type Review = Omit<z.output<typeof Options>, 'json'>

/** `review`. Asks a running server over HTTP and needs no data directory; the key comes from the environment alone. */
export function addReviewCommand(program: Command): void {
  program
    .command('review')
    .description('approve, dismiss or comment on a candidate, through the API of a running server')
    .argument('<candidate>', 'its id, or refs/candidates/<id>/head')
    .addOption(new Option('--approve', 'make it a Neuron').conflicts('dismiss'))
    .option('--dismiss', 'take it out of the queue')
    .option('--comment <text>', 'say something about it, before the verdict if there is one; - reads standard input')
    .option('--reason <text>', 'why it is dismissed')
    .option('--head <commit>', 'the commit of its ref that was judged; refused where it proposes something else now')
    .option('--url <url>', 'of the server (default: GANGLION_URL)')
    .option('--json', 'print one line of JSON')
    .addHelpText(
      'after',
      '\nGANGLION_KEY holds the API key of a curator; the command line takes none, since others can see it.' +
        '\n\nExample:\n  ganglion review "$ID" --approve --head "$(git rev-parse FETCH_HEAD)" --url https://kb.example.org',
    )
    .action(async (candidate: unknown, options: Record<string, unknown>) => {
      const { json, ...review } = parseInput(Options, { ...options, candidate })
      if (!review.approve && !review.dismiss && review.comment === undefined)
        throw new UsageError('one of --approve, --dismiss and --comment is needed')
      if (review.reason !== undefined && !review.dismiss)
        throw new UsageError('--reason goes with --dismiss; --comment with the others')
      const comment = await commentOf(review)
      const server = serverOf(options.url, "a curator's API key")
      const { answer, text } = await send(server, review, comment)
      process.stdout.write(`${json ? JSON.stringify(answer) : text}\n`)
    })
}

async function commentOf({ comment }: Review): Promise<string | undefined> {
  if (comment === undefined) return undefined
  return parseInput(CandidateComment.shape.comment, comment === '-' ? await readInput() : comment, '--comment')
}

async function readInput(): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin) {
    const bytes = Buffer.from(chunk)
    size += bytes.length
    if (size > maxInputBytes) throw new UsageError(`standard input: must be at most ${maxInputBytes / 1024} KB`)
    chunks.push(bytes)
  }
  return Buffer.concat(chunks).toString('utf8').trimEnd()
}

/** Posts the comment, then the verdict. @throws {Error} with a sentence that says which of them was refused, and why. */
async function send(
  server: ApiServer,
  { candidate, approve, dismiss, reason, head }: Review,
  comment: string | undefined,
): Promise<{ answer: unknown; text: string }> {
  const path = `/queue/candidates/${candidate}`
  const request = async <Schema extends z.ZodType>(verb: string, body: unknown, schema: Schema) => {
    try {
      return await post(server, `${path}/${verb}`, body, schema)
    } catch (error) {
      const isSecond = comment !== undefined && verb !== 'comment'
      throw new Error(
        `${isSecond ? 'The comment is recorded, the verdict is not. ' : ''}${sentence(error, { candidate, head })}`,
      )
    }
  }
  const said: string[] = []
  let answer: unknown
  if (comment !== undefined) {
    const state = await request('comment', { comment, head }, CandidateState)
    said.push(`Commented on ${candidate}, which is ${state.status}.`)
    answer = state
  }
  if (approve) {
    const approval = await request('approve', { head }, Approval)
    said.push(`Approved ${candidate}: ${approval.seqId}, commit ${approval.commit}.`)
    answer = approval
  }
  if (dismiss) {
    answer = await request('dismiss', { reason, head }, CandidateState)
    said.push(`Dismissed ${candidate}.`)
  }
  return { answer, text: said.join('\n') }
}

function sentence(error: unknown, { candidate, head }: Pick<Review, 'candidate' | 'head'>): string {
  if (!(error instanceof ApiRefusal)) return error instanceof Error ? error.message : String(error)
  switch (error.code) {
    case 'stale_head':
      return `The candidate no longer proposes what ${head} does: ${error.head === null ? 'it has no head now' : `its head is ${error.head}`}.`
    case 'not_found':
      return 'There is no such candidate for this key.'
    case 'invalid_token':
      return 'The server does not know the key in GANGLION_KEY.'
    case 'insufficient_role':
      return 'The key in GANGLION_KEY is not that of a curator.'
    case 'merge_conflict':
      return `${error.message} To settle it: git fetch origin refs/candidates/${candidate}/head, merge it into main, and push.`
    default:
      return error.message
  }
}
