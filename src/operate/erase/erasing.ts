import { isDeepStrictEqual } from 'node:util'
import type { Oid } from '../../git/objects/object.ts'
import { formatCandidate, parseCandidate, tryParseCandidate } from '../../markdown/file/candidate-file.ts'
import { allTags, formatNeuron, type NeuronFile, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { isInternal } from '../../rules/access/audience.ts'
import { type Candidate, followsRename } from '../../rules/candidates/candidate.ts'
import { endUserOf, forWhom, parseMetadata, readMetadata, textsOf } from '../../rules/candidates/metadata.ts'
import { inert } from '../../rules/text/inert.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { erasedWord, textForms } from './text-forms.ts'

export type FileKind = 'page' | 'record' | 'file'

type File = { kind: FileKind; path: string; data: Buffer }

/** Data to erase from a knowledge base. */
export type ErasedThings = {
  seqIds: readonly string[]
  /** Ids of the pages' candidates, and of others with erased data. */
  candidates: readonly string[]
  /** Ids of the pending ones among the candidates. */
  pending: readonly string[]
  /** seqIds by paths and contents that these pages ever had, since pushed pages had no seqId yet. */
  paths: Readonly<Record<string, string>>
  contents: Readonly<Record<string, string>>
  /** Texts to erase everywhere. `isWord`: whole words only. */
  texts: readonly { text: string; isWord: boolean }[]
  /** Ids of the end users on whose behalf candidates were sent, which may be too short to be sought as texts. */
  endUsers: readonly string[]
  /** Time of the erasure: ISO 8601, UTC. */
  at: string
}

/** Returns the path of an erased page: its own path may reveal its content. */
export function erasedPath(seqId: string): string {
  return `neurons/erased/${seqId}.md`
}

export function fileKindOf(path: string): FileKind {
  if (/^neurons\/.*\.md$/is.test(path)) return 'page'
  return /^[0-9a-f]{2}\/[0-9a-f]{2}\/[0-9a-f-]{36}\.md$/.test(path) ? 'record' : 'file'
}

export type Erasing = ReturnType<typeof erasingOf>

/** Returns functions that remove data to erase from texts, names of files and folders, and files. */
export function erasingOf(things: ErasedThings) {
  /** Numbers of versions of erased pages, which keep different versions different. */
  const versions = new Map<string, number>()
  const seqIds = new Set(things.seqIds)
  const candidates = new Set(things.candidates)
  const pending = new Set(things.pending)
  const { replace, replaceName } = textForms(things.texts)

  /** Returns a commit message without the texts to erase, and without the trailers that name the end users. */
  function replaceMessage(message: string): string {
    const ends = things.endUsers.map((id) => inert(`<${oneLine(id, 400)}>`))
    const isNamed = (line: string) => ends.some((end) => line.endsWith(end))
    return replace(
      message.replace(/^On-Behalf-Of: .*$/gm, (line) => (isNamed(line) ? `On-Behalf-Of: ${erasedWord}` : line)),
    )
  }

  /**
   * Returns a file without data to erase. `seqId`: set if the file is an erased page.
   * @param named returns the new id of a blob that a record names
   * @throws {Error} if a text is part of what the server itself writes
   */
  async function rewriteFile(
    { kind, path, data }: File,
    named: (oid: Oid) => Promise<Oid>,
  ): Promise<{ data: Buffer; seqId?: string }> {
    const text = data.toString('utf8')
    const isText = Buffer.from(text).equals(data)
    const replaced = replace(text)
    if (!isText) return { data: replaced === text ? data : Buffer.from(`${erasedWord}.\n`) }
    if (kind === 'page') {
      const file = parseNeuronFile(text)
      const seqId = erasedPage(file, path)
      if (seqId !== undefined) return { data: Buffer.from(tombstone(seqId, file, text)), seqId }
      if (replaced !== text) requireSame(pageIdentity(file), pageIdentity(parseNeuronFile(replaced)))
    }
    const record = kind === 'record' ? tryParseCandidate(text) : undefined
    if (record === undefined) return { data: Buffer.from(replaced) }
    const isErased = candidates.has(record.id) || seqIds.has(record.target ?? '')
    const own = isErased ? emptied(record) : replaced === text ? record : parseCandidate(replaced)
    requireSame(recordIdentity(record), recordIdentity(own))
    if (!isErased) requireSame(recordSight(record), recordSight(own))
    const linked = isErased ? { ...own } : withoutEndUser(own, record)
    if (own.base !== null) linked.base = await named(own.base)
    if (own.mergeBase !== undefined) linked.mergeBase = await named(own.mergeBase)
    if (own.original !== undefined) linked.original = await named(own.original)
    if (own.tests !== undefined) {
      const basesNamed = own.tests.map(async ({ base, ...file }) => ({ ...file, base: base && (await named(base)) }))
      linked.tests = await Promise.all(basesNamed)
    }
    return {
      data: isDeepStrictEqual(linked, record) ? data : Buffer.from(replace(formatCandidate(linked))),
    }
  }

  function erasedPage({ fields, content }: NeuronFile, path: string): string | undefined {
    const { seqId } = fields
    if (seqId !== undefined) return seqIds.has(seqId) ? seqId : undefined
    const { paths, contents } = things
    const found = Object.hasOwn(paths, path) ? paths[path] : contents[content.trim()]
    return typeof found === 'string' ? found : undefined
  }

  function tombstone(seqId: string, { fields }: NeuronFile, text: string): string {
    const known = [...versions.keys()].filter((key) => key.startsWith(`${seqId} `)).length
    const version = versions.get(`${seqId} ${text}`) ?? known + 1
    versions.set(`${seqId} ${text}`, version)
    const { id, audience, candidate } = fields
    const kept = {
      ...(fields.seqId !== undefined && { seqId }),
      ...(id !== undefined && { id }),
      title: `${erasedWord} ${seqId}`,
      tags: isInternal(fields.tags) ? ['internal'] : [],
      ...(audience !== undefined && { audience }),
      ...(candidate !== undefined && { candidate }),
    }
    return formatNeuron(kept, `This version was erased (${version}).\n`)
  }

  /** Returns a record that does not tell on whose behalf it was sent, or what of whom it takes back. @param was with all texts */
  function withoutEndUser(record: Candidate, was: Candidate): Candidate {
    const { endUsers } = things
    const reason = endUsers.reduce(
      (text, id) => text.replace(`${forWhom(id)} since `, `${forWhom(erasedWord)} since `),
      record.verdict.reason,
    )
    const { data } = parseMetadata(record.metadata)
    const isNamed = endUsers.includes(endUserOf(was)?.id ?? '')
    return {
      ...record,
      verdict: { ...record.verdict, reason },
      ...(isNamed && { metadata: JSON.stringify({ ...data, onBehalfOf: { id: erasedWord } }) }),
    }
  }

  /** Empties a record, but keeps who decided. A pending candidate is dismissed. */
  function emptied(record: Candidate): Candidate {
    const { tests: _, ...kept } = record
    const { decisions, verdict, metadata, connector } = kept
    const dismissal = {
      action: 'dismiss',
      at: things.at,
      by: { id: 'cli', name: 'Operator' },
      reason: erasedWord,
    } as const
    return {
      ...kept,
      title: erasedWord,
      content: `${erasedWord}.\n`,
      frontMatter: null,
      metadata: JSON.stringify({ connector, model: textsOf(metadata)('model') }),
      verdict: { ...verdict, reason: verdict.reason === followsRename ? verdict.reason : erasedWord, warnings: [] },
      decisions: [
        ...decisions.map(({ reason: _reason, via: _via, ...decision }) => decision),
        ...(pending.has(record.id) ? [dismissal] : []),
      ],
    }
  }

  return { seqIds, candidates, replace, replaceMessage, replaceName, rewriteFile }
}

function pageIdentity(file: NeuronFile): unknown[] {
  const { seqId, id, candidate, audience } = file.fields
  return [seqId, id, candidate, audience, isInternal(allTags(file, { inlineTags: true }))]
}

function recordIdentity({ id, kind, target, createdAt, createdBy }: Candidate): unknown[] {
  return [id, kind, target, createdAt, createdBy.id]
}

function recordSight({ metadata, frontMatter, content }: Candidate): unknown[] {
  const { audience, tags } = readMetadata(parseMetadata(metadata).data)
  const file = { ...parseNeuronFile(frontMatter ?? ''), content }
  return [audience, isInternal(tags), ...pageIdentity(file)]
}

function requireSame(before: unknown[], after: unknown[]): void {
  if (isDeepStrictEqual(before, after)) return
  throw new Error('The text is part of ids that Ganglion itself writes, or of what hides a page: give more of it.')
}
