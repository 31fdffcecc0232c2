import { join, resolve } from 'node:path'
import type { Readable, Writable } from 'node:stream'
import { syncDirectory } from '../../system/durable-file.ts'
import { hasCode } from '../../system/error-code.ts'
import { isOid, type Oid } from '../objects/object.ts'
import { isRefName } from '../refs/refs.ts'
import { encodePacket, flushPacket, PacketReader } from './pkt-line.ts'

/** A ref that a push wants to move: from nothing it is made, to nothing it is deleted. */
export type RefUpdate = { ref: string; from: Oid | undefined; to: Oid | undefined }

/** Verdict on a push before any of it is accepted; the lines are for the pusher's terminal. */
export type Judgement = { accepted: boolean; lines: readonly string[] }

/** Result for one ref, and why it was rejected. */
export type RefOutcome = {
  ref: string
  refused?: string /** True if it is refused only until further people approve. */
  awaitsApproval?: boolean
}

/** Result of a push, one outcome for each ref; the lines are for the pusher's terminal. */
export type PushReport = { outcomes: readonly RefOutcome[]; lines: readonly string[] }

/** Port of the part that decides about pushes. */
export type Receiver = {
  /** Judges a push whose objects lie apart, in the folder `quarantine` (undefined where it brings none): refused, they are gone. */
  judge(updates: readonly RefUpdate[], quarantine: string | undefined, options: readonly string[]): Promise<Judgement>
  /** Takes a push that was found good: moves the refs itself, durably. `options` are those of `git push -o`, here and above. */
  receive(updates: readonly RefUpdate[], options: readonly string[]): Promise<PushReport>
}

/** The server's ends of what `receive-pack`'s hooks inherit; see the folder `hooks`. */
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
  /** Called with errors; the pusher learns only that it failed. */
  onError(error: unknown): void
}

/** More than the refs and options of any push that is taken. */
const maxQuestion = 1024 * 1024
const optionMark = 'option '
const noSpace = 'the server has no space left'
const zeroOid = '0'.repeat(40)

/**
 * Answers the hooks of one push until their channels close; never rejects. What `proc-receive` is asked to do must be what
 * `pre-receive` was allowed, so that a hook that git skips, because it cannot be executed, opens no way around the judgement.
 */
export async function answerHooks(channels: HookChannels, context: HookContext): Promise<void> {
  const { verdict, reports, messages } = channels
  const failed = (error: unknown) => {
    if (!isClosed(error)) context.onError(error)
    // The hooks refuse a push at once if their channels end without an answer.
    for (const channel of [verdict, reports, messages]) channel.end()
  }
  let accepted: readonly RefUpdate[] = []
  const preReceive = answerPreReceive(channels, context).then((updates) => {
    accepted = updates
  })
  const procReceive = answerProcReceive(channels, context, () => accepted)
  await Promise.all([preReceive.catch(failed), procReceive.catch(failed)])
}

/** @returns the updates that were accepted, none where the push was refused. */
async function answerPreReceive({ question, verdict }: HookChannels, context: HookContext): Promise<RefUpdate[]> {
  const asked = await readQuestion(question)
  if (asked === undefined) return []
  const onError = (error: unknown) => {
    // Once the push has ended, its quarantine is gone from under who looks into it.
    if (!verdict.destroyed) context.onError(error)
  }
  const { updates, judgement } = await judge(asked, { ...context, onError })
  verdict.end(`${judgement.accepted ? 'accept' : 'refuse'}\n${forTerminal(judgement.lines)}`)
  return judgement.accepted ? updates : []
}

/** The whole question but for the empty line that ends it; undefined where it never came. */
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
    // git has flushed the pack, but not the name under which it has just moved it out of the quarantine.
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

/** Updates written as `<old> <new> <ref>`; undefined where one is not, or where a ref comes twice. */
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

/** Text of others may stand in a line: none of it may steer a terminal. */
function forTerminal(lines: readonly string[]): string {
  return lines.map((line) => `${oneLine(line)}\n`).join('')
}

function oneLine(text: string): string {
  return text.replace(/\p{Cc}/gu, ' ')
}

/** Whether a failure, or what caused it, is that a file system has no space left. */
function isForWantOfSpace(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  return hasCode(error, 'ENOSPC', 'EDQUOT') || isForWantOfSpace(error.cause)
}

/** Whether a channel closed because the hook, or git, has ended. */
function isClosed(error: unknown): boolean {
  return hasCode(error, 'ERR_STREAM_PREMATURE_CLOSE')
}
