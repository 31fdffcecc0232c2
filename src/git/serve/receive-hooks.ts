import { join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { syncDirectory } from '../../system/durable-file.ts'
import { hasCode } from '../../system/error-code.ts'
import { isOid, type Oid } from '../objects/object.ts'
import { isRefName } from '../refs/refs.ts'
import { encodePacket, flushPacket, PacketReader } from './pkt-line.ts'

/** Requested move of a ref. Without `from` it is created, without `to` it is deleted. */
export type RefUpdate = { ref: string; from: Oid | undefined; to: Oid | undefined }

/** Verdict on a push before any of it is accepted; the lines are for the pusher's terminal. */
export type Judgement = { accepted: boolean; lines: readonly string[] }

/** Result for one ref, with the reason if it was rejected. */
export type RefOutcome = {
  ref: string
  refused?: string /** True if it is rejected only until further people approve. */
  awaitsApproval?: boolean
}

/** Result of a push, one outcome for each ref; the lines are for the pusher's terminal. */
export type PushReport = { outcomes: readonly RefOutcome[]; lines: readonly string[] }

/** Interface of the code that decides about pushes. */
export type Receiver = {
  /** Judges a push whose objects are in the folder `quarantine` (undefined: none). If it is rejected, they are removed. */
  judge(updates: readonly RefUpdate[], quarantine: string | undefined, options: readonly string[]): Promise<Judgement>
  /** Performs an accepted push: moves the refs itself, durably. `options`, also above, are those of `git push -o`. */
  receive(updates: readonly RefUpdate[], options: readonly string[]): Promise<PushReport>
}

/** Server's ends of the channels that the hooks of `receive-pack` inherit; see the folder `hooks`. */
export type HookChannels = {
  /** Input of `pre-receive`: the quarantine's path, `option <text>` for each push option, a line for each ref, an empty line. */
  question: Readable
  /** Answer to `pre-receive`: `accept` or `refuse`, then lines for the terminal. */
  verdict: Writable
  /** Streams from and to `proc-receive`, as in githooks(5). */
  commands: Readable
  reports: Writable
  messages: Writable
}

export type HookContext = {
  gitDir: string
  receiver: Receiver
  maxRefs: number
  /** Called with errors, of which the pusher learns only that the push failed. */
  onError(error: unknown): void
}

/** Maximum characters of a question, far above the refs and options of any accepted push. */
const maxQuestion = 1024 * 1024
const optionMark = 'option '
const noSpace = 'the server has no space left'
const zeroOid = '0'.repeat(40)

/**
 * Answers the hooks of one push until their channels close; never rejects. `proc-receive` may only do what `pre-receive` was
 * allowed to. So if git skips a hook that it cannot execute, the push is still not accepted without a check.
 */
export async function answerHooks(channels: HookChannels, context: HookContext): Promise<void> {
  const { verdict, reports, messages } = channels
  const failed = (error: unknown) => {
    if (!isClosed(error)) context.onError(error)
    // The hooks reject a push at once if their channels end without an answer.
    for (const channel of [verdict, reports, messages]) channel.end()
  }
  let accepted: readonly RefUpdate[] = []
  const preReceive = answerPreReceive(channels, context).then((updates) => {
    accepted = updates
  })
  const procReceive = answerProcReceive(channels, context, () => accepted)
  await Promise.all([preReceive.catch(failed), procReceive.catch(failed)])
}

/** Answers `pre-receive`. @returns the accepted updates; none if the push was rejected */
async function answerPreReceive({ question, verdict }: HookChannels, context: HookContext): Promise<RefUpdate[]> {
  const asked = await readQuestion(question)
  if (asked === undefined) return []
  const onError = (error: unknown) => {
    // If the push has ended, its quarantine was removed during the check, so errors are expected.
    if (!verdict.destroyed) context.onError(error)
  }
  const { updates, judgement } = await judge(asked, { ...context, onError })
  verdict.end(`${judgement.accepted ? 'accept' : 'refuse'}\n${forTerminal(judgement.lines)}`)
  return judgement.accepted ? updates : []
}

/** Returns the question without the empty line that ends it; undefined if it did not arrive completely. */
async function readQuestion(question: Readable): Promise<string | undefined> {
  let text = ''
  let end = ''
  for await (const chunk of question.setEncoding('utf8')) {
    if (text.length < maxQuestion) text += chunk
    end = (end + chunk).slice(-2)
    if (end === '\n\n') return text.replace(/\n+$/, '')
  }
  return undefined
}

async function judge(
  question: string,
  { gitDir, receiver, maxRefs, onError }: HookContext,
): Promise<{ updates: RefUpdate[]; judgement: Judgement }> {
  const [quarantine, ...asked] = question.split('\n')
  const options = asked.filter((line) => line.startsWith(optionMark)).map((line) => line.slice(optionMark.length))
  const lines = asked.filter((line) => !line.startsWith(optionMark))
  const refuse = (line: string) => ({ updates: [], judgement: { accepted: false, lines: [line] } })
  if (lines.length > maxRefs) return refuse(`A push may move ${maxRefs} refs at most. Push them in parts.`)
  const updates = parseUpdates(lines)
  if (updates === undefined) return refuse('The push has a ref whose name git does not allow, or one twice.')
  try {
    const folder = quarantine ? resolve(gitDir, quarantine) : undefined
    return { updates, judgement: await receiver.judge(updates, folder, options) }
  } catch (error) {
    onError(error)
    const reason = isForWantOfSpace(error) ? noSpace : 'the server failed to check this push'
    return refuse(`Nothing was changed: ${reason}.`)
  }
}

async function answerProcReceive(
  { commands, reports, messages }: HookChannels,
  context: HookContext,
  accepted: () => readonly RefUpdate[],
): Promise<void> {
  const packets = new PacketReader(commands[Symbol.asyncIterator](), maxQuestion)
  const offer = await packets.section()
  if (offer === undefined) return
  const hasOptions = offer[0]?.split('\0')[1]?.split(' ').includes('push-options') === true
  reports.write(encodePacket(`version=1${hasOptions ? '\0push-options' : ''}\n`))
  reports.write(flushPacket)
  const lines = (await packets.section()) ?? []
  const options = hasOptions ? ((await packets.section()) ?? []) : []
  const refs = lines.map((line) => line.slice(82))
  const updates = parseUpdates(lines)
  const report =
    updates !== undefined && isSame(updates, accepted())
      ? await receive(updates, options, context)
      : refusedAll(refs, 'not what was checked')
  messages.end(forTerminal(report.lines))
  for (const ref of refs) {
    const outcome = report.outcomes.find((candidate) => candidate.ref === ref) ?? { ref, refused: 'nothing was done' }
    reports.write(encodePacket(outcome.refused === undefined ? `ok ${ref}` : `ng ${ref} ${oneLine(outcome.refused)}`))
  }
  reports.end(flushPacket)
}

async function receive(
  updates: readonly RefUpdate[],
  options: readonly string[],
  { gitDir, receiver, onError }: HookContext,
): Promise<PushReport> {
  try {
    // git has flushed the pack, but not the folder into which it has moved it from the quarantine.
    await syncDirectory(join(gitDir, 'objects', 'pack'))
    return await receiver.receive(updates, options)
  } catch (error) {
    onError(error)
    const refs = updates.map(({ ref }) => ref)
    const reason = isForWantOfSpace(error) ? noSpace : 'the server failed'
    return refusedAll(refs, reason, 'The server failed to take this push. Fetch to see what has become of it.')
  }
}

function refusedAll(refs: readonly string[], refused: string, ...lines: string[]): PushReport {
  return { outcomes: refs.map((ref) => ({ ref, refused })), lines }
}

/** Parses updates written as `<old> <new> <ref>`; undefined if one is invalid, or a ref occurs twice. */
function parseUpdates(lines: readonly string[]): RefUpdate[] | undefined {
  const updates = new Map<string, RefUpdate>()
  for (const line of lines) {
    const [from, to, ref] = [line.slice(0, 40), line.slice(41, 81), line.slice(82)]
    if (!isOid(from) || !isOid(to) || !isRefName(ref) || updates.has(ref)) return undefined
    updates.set(ref, { ref, from: knownOid(from), to: knownOid(to) })
  }
  return [...updates.values()]
}

function knownOid(oid: Oid): Oid | undefined {
  return oid === zeroOid ? undefined : oid
}

function isSame(updates: readonly RefUpdate[], accepted: readonly RefUpdate[]): boolean {
  return JSON.stringify(updates) === JSON.stringify(accepted)
}

/** Formats lines for a terminal. Text of others in them must not control it. */
function forTerminal(lines: readonly string[]): string {
  return lines.map((line) => `${oneLine(line)}\n`).join('')
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}

/** True if a failure, or its cause, is a full file system or quota. */
function isForWantOfSpace(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return hasCode(error, 'ENOSPC', 'EDQUOT') || isForWantOfSpace(error.cause)
}

/** True if a channel closed because the hook, or git, has ended. */
function isClosed(error: unknown): boolean {
  return hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE')
}
