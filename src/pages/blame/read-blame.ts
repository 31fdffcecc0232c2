import type { Blame, BlamedSentence } from '../../contract/blame.ts'
import { GanglionError } from '../../contract/errors.ts'
import { type KbView, viewFor } from '../../kb/access/kb-view.ts'
import { NamedSources, type ShownVersion, shownVersions } from '../../kb/access/shown-fields.ts'
import { creditedName } from '../../kb/access/who-is.ts'
import type { Context } from '../../kb/context.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import type { Caller } from '../../rules/access/caller.ts'
import { type Actor, ingestActor } from '../../rules/candidates/candidate.ts'
import { unixLines } from '../../rules/text/line-endings.ts'
import { pauses } from '../../system/pauses.ts'
import { TaskFailed, TaskPool } from '../../system/task-pool.ts'
import { approverOf } from '../read-history.ts'
import origins, { type OriginsResult, type OriginsTask } from './origins-worker.ts'

/** Maximum characters of all versions that are compared on the calling thread: a few milliseconds. */
const soonSize = 4_000
const busy =
  'Too many pages are being explained at once, or the history of this page takes too long. Wait a minute, then try again.'

/** The worker has this file's extension: `.ts` in a checkout, `.js` in the built package. */
const worker = new URL(`./origins-worker${import.meta.url.slice(-3)}`, import.meta.url)

/** Finds the origins of sentences in a thread, one page after the other. */
class OriginsPool {
  readonly #pool = new TaskPool<OriginsTask, OriginsResult>({
    ...{ worker, timeLimitMs: 30_000, maxTasks: 50, waitLimitMs: 20_000 },
  })

  /** Runs a task in the thread. @throws {GanglionError} `unavailable` if too many pages wait, or the page's history takes too long */
  async origins(task: OriginsTask): Promise<OriginsResult> {
    if (sizeOf(task) <= soonSize) return origins(task)
    try {
      return await this.#pool.run(task)
    } catch (error) {
      if (error instanceof TaskFailed) throw new GanglionError('unavailable', busy)
      throw error
    }
  }

  close(): Promise<void> {
    return this.#pool.close()
  }
}

/** Origin that all sentences of one version share. `sent`: the text as the proposer sent it; curators added the rest to the candidate. */
type Origin = {
  said: Omit<BlamedSentence, 'text' | 'start' | 'end'>
  sent: { text: string; revisedBy: string } | undefined
}

/** Maximum bytes of JSON of the sentences in an answer. */
const maxBytes = 1024 * 1024

/**
 * Returns the origin of each sentence of a Neuron: the version that introduced it, across edits, moves, merges, renames, removals and
 * editions. Versions that the caller may not see are skipped. Only curators see who proposed. An answer of 1 MB has the offset of the next
 * sentences.
 * @param asked `within`: as in `sentenceOrigins`; `start`: UTF-16 offset of the first sentence or before it
 * @throws {GanglionError} `not_found`, `unavailable`
 */
export async function readBlame(
  ctx: Context,
  caller: Caller,
  { kb: kbName, seqId, within, start = 0 }: { kb: string; seqId: string; within?: string; start?: number },
): Promise<Blame> {
  const kb = await ctx.kb(caller.tenantId, kbName)
  const view = await viewFor(caller, kb)
  const neuron = view.about(seqId, findNeuron)
  if (neuron === undefined) throw new GanglionError('not_found')
  const isCurator = view.audience === 'curator'
  const versions = await shownVersions(kb, view, seqId)
  const { language } = await kb.settings()
  const compared = versions.map(({ text, isFollowing }) => ({ text, isFollowing }))
  const task = { versions: compared, language, within, start }
  const { sentences: found, nextStart } = await ctx.threads.of(OriginsPool).origins(task)
  const named = new NamedSources(view, ctx.sources)
  const origins = new Map<number, Promise<Origin>>()
  const sentences: BlamedSentence[] = []
  const pause = pauses()
  const { title, version, commit } = neuron
  const answer = { seqId, title, version, commit, sentences }
  let bytes = 0
  for (const { sentence, origin: at, said: text } of found) {
    await pause()
    const version = versions[at]
    if (version === undefined) continue
    const known = origins.get(at) ?? originOf(ctx, { view, named }, version)
    origins.set(at, known)
    const { said, sent } = await known
    const { sources: _, ...revised } = { ...said, ...(isCurator && { proposedBy: sent?.revisedBy ?? null }) }
    const isSent = sent === undefined || sent.text.includes(bare(text))
    const blamed = { ...sentence, ...(isSent ? said : revised) }
    bytes += Buffer.byteLength(JSON.stringify(blamed))
    if (bytes > maxBytes && sentences.length > 0) return { ...answer, nextStart: sentence.start }
    sentences.push(blamed)
  }
  return { ...answer, ...(nextStart !== undefined && { nextStart }) }
}

async function originOf(
  ctx: Context,
  { view, named }: { view: KbView; named: NamedSources },
  row: ShownVersion,
): Promise<Origin> {
  const credited = async (by: Actor) =>
    view.audience === 'curator' ? creditedName(ctx, view.kb.identity.tenantId, by) : by.name
  const { version, commit, at, candidate, file } = row
  const read = async (blob: string) => parseCandidate(await view.kb.repository.readTextOnce(blob))
  const approvedBy = await approverOf(view.kb, row)
  const record = candidate && (await read(candidate.blob))
  const { content } = (record?.original === undefined ? record : await read(record.original)) ?? {}
  const sources = record?.createdBy.id === ingestActor.id ? await named.shown(file.fields.sources) : []
  const revision = record?.decisions.findLast(({ action }) => action === 'revise')
  return {
    said: {
      ...{ version, commit, at, approvedBy, candidateId: candidate?.id ?? null },
      ...(view.audience === 'curator' && {
        proposedBy: record === undefined ? null : await credited(record.createdBy),
        connector: record?.connector ?? null,
        model: candidate?.model ?? null,
      }),
      ...(sources.length > 0 && { sources }),
    },
    sent:
      content === undefined
        ? undefined
        : {
            text: bare(unixLines(content)),
            revisedBy: revision === undefined ? approvedBy : await credited(revision.by),
          },
  }
}

/** Removes URLs, which change when an embedded picture becomes a file. */
function bare(text: string): string {
  return text.replace(/\]\([^()\n]*\)/g, '](…)')
}

function sizeOf({ versions }: OriginsTask): number {
  return versions.reduce((sum, { text }) => sum + text.length, 0)
}
