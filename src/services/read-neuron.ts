import { GanglionError } from '../contract/errors.ts'
import type { Neuron } from '../contract/neurons.ts'
import { EdgeType } from '../contract/vocabulary.ts'
import { type Audience, effectiveAudience, maySee } from '../knowledge/audience.ts'
import { isUuid } from '../knowledge/candidate-id.ts'
import { resolveTarget } from '../knowledge/link-target.ts'
import type { NeuronFields, WikiLink } from '../knowledge/neuron.ts'
import { parseNeuronFile } from '../markdown/neuron-file.ts'
import {
  commitsByPrefix,
  createdAt,
  findNeuron,
  linksOf,
  type NeuronRow,
  namesByKey,
  seqIdOfDocument,
  versionAt,
} from '../store/neuron-queries.ts'
import type { Caller } from './caller.ts'
import type { Ganglion } from './ganglion.ts'
import type { KnowledgeBase } from './knowledge-base.ts'
import { fileTitle } from './neuron-for-index.ts'

type Link = Neuron['links'][number]
type WrittenLink = { type: string; target: string; kb: string | null }

/**
 * Reads one Neuron, by seqId or document UUID, as it stands or as it stood at a commit of main's first-parent line.
 * What the caller's audience may not see is not there: neither the Neuron nor a link to one.
 * @throws {GanglionError} `not_found`
 */
export async function readNeuron(
  ganglion: Ganglion,
  caller: Caller,
  { kb: kbName, seqId: name, at }: { kb: string; seqId: string; at?: string },
): Promise<Neuron> {
  const kb = await ganglion.kb(caller.tenantId, kbName)
  const audience = effectiveAudience(caller.role, caller.role === 'curator' ? 'curator' : 'tool')
  const seqId = isUuid(name) ? seqIdOfDocument(kb.projection.read, name) : name
  const current = seqId === undefined ? undefined : findNeuron(kb.projection.read, seqId)
  if (seqId === undefined) throw new GanglionError('not_found')
  if (current !== undefined && !(await isVisible(kb, audience, current))) throw new GanglionError('not_found')
  return at === undefined ? readCurrent(kb, audience, current) : readPast(ganglion, kb, audience, seqId, at)
}

async function isVisible(
  kb: KnowledgeBase,
  audience: Audience,
  neuron: { audience?: string[] | undefined; tags: string[] },
): Promise<boolean> {
  const { defaultAudience } = await kb.settings()
  const { audience: listed, tags } = neuron
  return maySee(audience, { tags, ...(listed === undefined ? {} : { audience: listed }) }, defaultAudience)
}

async function readCurrent(kb: KnowledgeBase, audience: Audience, row: NeuronRow | undefined): Promise<Neuron> {
  if (row === undefined) throw new GanglionError('not_found')
  const { content } = parseNeuronFile(await kb.repository.readText(row.blob))
  const { blob: _blob, audience: _audience, edges, ...shown } = row
  const written = [
    ...edges.map(({ type, target }) => ({ type, target, kb: null })),
    ...linksOf(kb.projection.read, row.seqId),
  ]
  return { ...shown, content, links: await resolveLinks(kb, audience, written) }
}

async function readPast(
  ganglion: Ganglion,
  kb: KnowledgeBase,
  audience: Audience,
  seqId: string,
  at: string,
): Promise<Neuron> {
  const { read: sql } = kb.projection
  const [commit, ...others] = commitsByPrefix(sql, at)
  const past = commit === undefined || others.length > 0 ? undefined : versionAt(sql, seqId, commit)
  if (past === undefined || past.blob === null) throw new GanglionError('not_found')
  const { fields, content } = parseNeuronFile(await kb.repository.readText(past.blob))
  if (!(await isVisible(kb, audience, fields))) throw new GanglionError('not_found')
  const { links } = await ganglion.parser.links(content)
  return {
    seqId,
    title: fields.title ?? fileTitle(past.path),
    content,
    version: past.version,
    createdAt: createdAt(sql, seqId) ?? past.at,
    updatedAt: past.at,
    tags: fields.tags,
    links: await resolveLinks(kb, audience, [...edgesOf(fields), ...links.map(asWritten)]),
    documentId: fields.id ?? null,
    path: past.path,
    commit: past.commit,
    candidateId: fields.candidate ?? null,
  }
}

function edgesOf({ edges }: NeuronFields): WrittenLink[] {
  return edges.map(({ type, target }) => ({ type, target, kb: null }))
}

function asWritten(link: WikiLink): WrittenLink {
  return { type: link.type ?? 'cites', target: link.target, kb: link.kb ?? null }
}

/** Links whose target is one Neuron of this knowledge base that the audience may see; each once, in order. */
async function resolveLinks(kb: KnowledgeBase, audience: Audience, written: readonly WrittenLink[]): Promise<Link[]> {
  const { read: sql } = kb.projection
  const links = new Map<string, Link>()
  for (const { type, target, kb: otherKb } of written) {
    if (otherKb !== null && otherKb !== kb.identity.slug) continue
    const found = resolveTarget(target, (key) => namesByKey(sql, key))
    const neuron = 'seqId' in found ? findNeuron(sql, found.seqId) : undefined
    if (neuron === undefined || !(await isVisible(kb, audience, neuron))) continue
    links.set(`${type} ${neuron.seqId}`, { type: EdgeType.parse(type), target: neuron.seqId })
  }
  return [...links.values()]
}
