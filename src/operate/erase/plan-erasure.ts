import { foldEmail } from '../../contract/people.ts'
import type { Context } from '../../kb/context.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { madeBelow } from '../../kb/projection/candidate-index.ts'
import type { AllTables } from '../../kb/projection/projection.ts'
import { allRows, query } from '../../kb/projection/sql-query.ts'
import { documentOfSeqId } from '../../kb/projection/version-queries.ts'
import { tryParseCandidate } from '../../markdown/file/candidate-file.ts'
import { parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { ingestConnector } from '../../rules/candidates/candidate.ts'
import { originPrefix } from '../../sources/ingest/source-candidate.ts'
import { type ErasedThings, erasingOf } from './erasing.ts'

/** Request of an administrator to erase data. */
export type ErasureRequest = {
  neurons: readonly string[]
  texts: readonly string[]
  /** Ids of Sources, which are erased with all editions and all pages compiled from them. */
  sources: readonly string[]
  /** E-mail addresses of people to erase. */
  people: readonly string[]
  /** Ids of end users on whose behalf candidates were sent. */
  endUsers?: readonly string[]
  /** E-mail addresses of the administrators who decided the erasure. */
  decidedBy: readonly string[]
}

export type ErasurePlan = ErasedThings & {
  /** Sources to erase. `isOnly`: no other Source has the same bytes, which are then erased, too. */
  sources: readonly { id: string; contentHash: string; isOnly: boolean }[]
  /** Stored texts of Sources to erase. */
  extracts: readonly string[]
  /** Ids of the people whose names and addresses are erased. */
  people: readonly string[]
  /** Address of the linked repository on a forge; the erasure removes the link. */
  forge: string | null
}

/** Id of a candidate, and the seqId of its Neuron. */
type Sent = { id: string; seqId: string | null }

/** Minimum length of a text to erase, since shorter ones occur in too many places. */
const leastText = 4
/** Minimum length of a number to erase, since digits also occur in ids and times. */
const leastDigits = 9
/** Minimum length of a page's content to recognize, since shorter ones resemble too many others. */
const leastContent = 20

/** Finds the data that a request is about. @throws {Error} with a sentence for a person */
export async function planErasure(ctx: Context, kb: KnowledgeBase, request: ErasureRequest): Promise<ErasurePlan> {
  const { read: sql } = kb.projection
  const editions = await editionsOf(ctx, kb, request.sources)
  const { endUsers = [] } = request
  const people = await Promise.all(request.people.map((email) => personOf(ctx, email)))
  const texts = [
    ...request.texts.map((text) => ({ text, isWord: false })),
    ...people.flatMap(({ name, email }) => [name, email].map((text) => ({ text, isWord: true }))),
  ]
  for (const { text } of texts) {
    if (text.length < leastText || /[\r\n]/.test(text))
      throw new Error(`A text to erase must have at least ${leastText} characters, in one line.`)
    if (isShortNumber(text))
      throw new Error(`A text of digits must have at least ${leastDigits} characters: ids and times have them, too.`)
  }
  texts.push(...endUsers.flatMap((id) => wordsOfEndUser(sql, id)))
  const origins = [...new Set(editions.map(({ editionOf }) => originPrefix(editionOf)))]
  const ofSources = origins.flatMap((prefix): Sent[] => {
    const sent = query`SELECT id, seq_id FROM candidates LEFT JOIN approvals ON candidate_id = id WHERE ${madeBelow(ingestConnector, prefix)}`
    return allRows(sql, sent).map(({ id, seq_id }) => ({ id: String(id), seqId: seq_id as string | null }))
  })
  const wanted = [...new Set([...request.neurons, ...ofSources.flatMap(({ seqId }) => seqId ?? [])])]
  const ofReaders = await feedbackOn(kb, [...wanted, ...editions.map(({ id }) => id)])
  const sent = [...ofSources, ...ofReaders]
  const seqIds = [...new Set([...wanted, ...ofReaders.flatMap(({ seqId }) => seqId ?? [])])]
  const plan = {
    ...{ seqIds, texts, endUsers, at: ctx.now().toISOString() },
    ...{ candidates: new Set(sent.map(({ id }) => id)), pending: [] as string[] },
    ...{ paths: {} as Record<string, string>, contents: {} as Record<string, string> },
  }
  const note = (seqId: string, content: string) => {
    if (content.trim().length >= leastContent) plan.contents[content.trim()] = seqId
  }
  for (const seqId of seqIds) {
    const versions = sql.all`SELECT path, blob FROM versions WHERE seq_id = ${seqId}`
    if (versions.length === 0) throw new Error(`There is no Neuron ${seqId}, and there was none.`)
    for (const { path, blob } of versions) {
      plan.paths[String(path)] = seqId
      if (typeof blob === 'string') note(seqId, parseNeuronFile(await kb.repository.readTextOnce(blob)).content)
    }
    const rows = sql.all`SELECT id, blob FROM candidates LEFT JOIN approvals ON candidate_id = id
      WHERE target = ${seqId} OR seq_id = ${seqId}`
    for (const { id, blob } of rows) {
      plan.candidates.add(String(id))
      note(seqId, tryParseCandidate(await kb.repository.readTextOnce(String(blob)))?.content ?? '')
    }
  }
  for (const id of plan.candidates) {
    if (sql.get`SELECT 1 FROM candidates WHERE id = ${id} AND status = 'pending'`) plan.pending.push(id)
  }
  for (const path of Object.keys(plan.paths)) {
    const holder = sql.get`SELECT seq_id FROM files WHERE path = ${path}`?.seq_id
    // A page pushed there may belong to the other Neuron.
    if (typeof holder === 'string' && !seqIds.includes(holder)) delete plan.paths[path]
  }
  const things = { ...plan, candidates: [...plan.candidates] }
  return {
    ...things,
    sources: await soleBytes(ctx, editions),
    extracts: await extractsOf(ctx, { kb, ids: editions.map(({ id }) => id), things }),
    people: people.map(({ id }) => id),
    forge: (await ctx.forgeLinks.ofKb(kb.identity.id))?.url ?? null,
  }
}

/** True for digits that may be part of an id or a time. */
function isShortNumber(text: string): boolean {
  return /^[0-9a-f:TZ.-]*$/i.test(text) && text.length < leastDigits
}

/** Returns the id and the names of an end user that are long enough to be sought in other texts. */
function wordsOfEndUser(sql: AllTables, id: string): { text: string; isWord: true }[] {
  const rows = sql.all`SELECT DISTINCT end_user ->> 'name' AS name FROM candidates
    WHERE end_user IS NOT NULL AND end_user ->> 'id' = ${id} AND name IS NOT NULL`
  const words = [id, ...rows.map(({ name }) => String(name))]
  return words.flatMap((text) => (text.length < leastText || isShortNumber(text) ? [] : { text, isWord: true }))
}

/** Returns feedback of readers on answers that name, and so quote, a page or a Source, with the Neurons that it became. */
async function feedbackOn({ projection, repository }: KnowledgeBase, ids: readonly string[]): Promise<Sent[]> {
  if (ids.length === 0) return []
  const { read: sql } = projection
  const named = ids.flatMap((id) => [id, documentOfSeqId(sql, id) ?? id])
  const rows = sql.all`SELECT id, blob, seq_id FROM candidates LEFT JOIN approvals ON candidate_id = id
    WHERE kind = 'reader-feedback'`
  const found: Sent[] = []
  for (const { id, blob, seq_id } of rows) {
    const record = await repository.readTextOnce(String(blob))
    if (named.some((one) => record.includes(one))) found.push({ id: String(id), seqId: seq_id as string | null })
  }
  return found
}

/** Requires as many people as `kb.yaml` does for the red zone. @throws {Error} with a sentence for a person */
export async function requireDeciders(ctx: Context, kb: KnowledgeBase, { decidedBy }: ErasureRequest): Promise<void> {
  const { deciding } = await kb.settings()
  const needed = deciding?.approvals.red ?? 2
  const deciders = new Set<string>()
  for (const email of decidedBy) {
    const { id } = await personOf(ctx, email)
    const roles = await ctx.users.memberships(id)
    const isAdmin = roles.some(({ tenantId, role }) => tenantId === kb.identity.tenantId && role === 'admin')
    if (!isAdmin) throw new Error(`${email} is no administrator of the tenant.`)
    deciders.add(id)
  }
  if (needed > 1 && deciders.size < needed)
    throw new Error(
      `kb.yaml asks for ${needed} people (approvals.red): name ${needed} administrators who decided it, each with --by.`,
    )
}

async function editionsOf(ctx: Context, kb: KnowledgeBase, ids: readonly string[]) {
  const all = await ctx.sources.all(kb.identity.id)
  const documents = ids.map((id) => {
    const source = all.find((one) => one.id === id)
    if (source === undefined) throw new Error(`The knowledge base has no Source ${id}.`)
    return source.editionOf
  })
  return all.filter(({ editionOf }) => documents.includes(editionOf))
}

async function personOf({ users }: Context, email: string) {
  const person = await users.findByEmail(foldEmail(email))
  if (person === undefined) throw new Error(`There is nobody with the address ${email}.`)
  return person
}

async function soleBytes(ctx: Context, editions: readonly { id: string; contentHash: string }[]) {
  const ids = editions.map(({ id }) => id)
  const others = new Set<string>()
  for (const { id } of await ctx.knowledgeBases.all()) {
    for (const source of await ctx.sources.all(id)) if (!ids.includes(source.id)) others.add(source.contentHash)
  }
  return editions.map(({ id, contentHash }) => ({ id, contentHash, isOnly: !others.has(contentHash) }))
}

/**
 * Returns the stored texts of Sources to erase, and model outputs that contain a text.
 * @throws {Error} for a Source that is kept and contains a text: its bytes cannot be rewritten
 */
async function extractsOf(
  ctx: Context,
  { kb, ids, things }: { kb: KnowledgeBase; ids: readonly string[]; things: ErasedThings },
): Promise<string[]> {
  const erasing = erasingOf(things)
  const ofOthers = new Set<string>()
  for (const { id: kbId } of await ctx.knowledgeBases.all()) {
    if (kbId !== kb.identity.id) for (const { id } of await ctx.sources.all(kbId)) ofOthers.add(id)
  }
  const found: string[] = []
  for (const name of await ctx.texts.names()) {
    const isDraft = name.endsWith('-draft.json')
    if (ids.some((id) => name.startsWith(`${id}-`)) || (isDraft && ids.length > 0)) found.push(name)
    else if (things.texts.length > 0 && !ofOthers.has(name.slice(0, 36))) {
      const json = JSON.stringify(await ctx.texts.find(name))
      if (json !== undefined && erasing.replace(json) === json) continue
      if (json !== undefined && !isDraft) {
        throw new Error(`The Source ${name.slice(0, 36)} holds a text that is to be erased: erase the Source, too.`)
      }
      found.push(name)
    }
  }
  return found
}
