import { ValidationError } from '../../contract/errors.ts'
import { hashObject, type Oid } from '../../git/objects/object.ts'
import { defaultPath } from '../../kb/new-path.ts'
import { asSpelledOnMain, blockedFolder, filesAtKey } from '../../kb/projection/file-queries.ts'
import { findNeuron } from '../../kb/projection/neuron-queries.ts'
import { versionAt } from '../../kb/projection/version-queries.ts'
import type { MainView } from '../../kb/writing/merge-candidate.ts'
import type { PushedNeuron } from '../../kb/writing/pushed-neurons.ts'
import { openContent, unreadableHead } from '../../markdown/file/content-front-matter.ts'
import { fileLayout, hasReadableSize } from '../../markdown/file/front-matter.ts'
import { editNeuron, formatNeuron, type NeuronChanges, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { narrowed } from '../../rules/access/audience.ts'
import { readMetadata } from '../../rules/candidates/metadata.ts'
import type { NeuronFields } from '../../rules/neurons/neuron.ts'
import { pathKey } from '../../rules/paths/portable-path.ts'
import { keepLineEndings, unixLines } from '../../rules/text/line-endings.ts'
import { oneLine } from '../../rules/text/lines.ts'

/** Changes of a page. Absent parts stay as they are; an audience of null is the knowledge base's default. */
export type PageChanges = Partial<Pick<NeuronFields, 'title' | 'tags' | 'aliases' | 'edges'>> & {
  audience?: string[] | null
  content?: string
}

export type PageWrite = {
  /** Page to change, and the commit of the edited version. Absent: a new page. */
  target?: { seqId: string; base: string }
  /** Path below `neurons/`. Absent: the present path, or the server's choice for a new page. */
  path?: string
  changes: PageChanges
}

type WrittenPage = { neuron: PushedNeuron & { text: string }; base: Oid | null; isChanged: boolean }

/**
 * Returns the page that results from a write. Bytes that the write does not touch stay.
 * @throws {ValidationError} with the fields `title`, `path`, `base` or `tags`
 * @throws {GanglionError} `target_unreadable`
 */
export async function writtenPage(view: MainView, write: PageWrite, now: Date): Promise<WrittenPage> {
  const page = write.target === undefined ? newPage(view, write, now) : await changedPage(view, write, write.target)
  const { path, before, text } = page.neuron
  if (write.path !== undefined && path !== before?.path) checkPath(view, path, before?.path)
  if (!hasReadableSize(text)) throw new ValidationError({ tags: ['make the front matter larger than 16 KB'] })
  return page
}

function newPage({ sql }: MainView, { path, changes: typed }: PageWrite, now: Date): WrittenPage {
  const changes = withOpened(typed, { tags: [] })
  const title = titleOf(changes.title ?? '')
  const text = formatNeuron({ ...fieldsOf(changes), title }, unixLines(changes.content ?? ''))
  const place = asSpelledOnMain(sql, wishedPath(path) ?? defaultPath(title, now.toISOString()))
  const neuron = { seqId: undefined, before: undefined, path: place, blob: blobOf(text), text }
  return { neuron, base: null, isChanged: true }
}

async function changedPage(
  { sql, readText }: MainView,
  { path, changes }: PageWrite,
  { seqId, base }: { seqId: string; base: string },
): Promise<WrittenPage> {
  const version = versionAt(sql, seqId, base)
  if (version === undefined || version.blob === null) {
    throw new ValidationError({ base: ['is no version of the page'] })
  }
  const page = await readText(version.blob)
  const before = findNeuron(sql, seqId)
  const text = edited(page, changes)
  const typed = wishedPath(path) ?? version.path
  const wished = pathKey(typed) === pathKey(version.path) ? typed : asSpelledOnMain(sql, typed)
  const isMoved = wished !== version.path
  if (isMoved && before !== undefined && before.path !== version.path) {
    throw new ValidationError({ path: [`was changed by somebody else, to ${before.path}`] })
  }
  const place = isMoved ? wished : (before?.path ?? version.path)
  const neuron = { seqId, before, path: place, blob: blobOf(text), text }
  return { neuron, base: version.blob, isChanged: isMoved || text !== page }
}

function edited(page: string, typed: PageChanges): string {
  const { content: old, fields } = parseNeuronFile(page)
  const changes = withOpened(typed, fields)
  const content = changes.content === undefined ? old : keepLineEndings(old, changes.content, fileLayout(page).eol)
  const title = changes.title === undefined ? {} : { title: titleOf(changes.title) }
  return editNeuron(page, { ...fieldsOf(changes), ...title }, content)
}

/** Adds changes from front matter that was typed at the head of the content, unless they are given explicitly. */
function withOpened(changes: PageChanges, current: Pick<NeuronFields, 'tags' | 'audience'>): PageChanges {
  if (changes.content === undefined) return changes
  const { content, tags, audience, isUnreadable } = openContent(changes.content)
  if (isUnreadable) throw new ValidationError({ content: [unreadableHead] })
  return {
    ...changes,
    content,
    ...(tags.length > 0 && { tags: [...new Set([...(changes.tags ?? current.tags), ...tags])] }),
    ...(audience && { audience: changes.audience ?? narrowed(audience, current.audience ?? audience) }),
  }
}

function fieldsOf({ tags, audience, aliases, edges }: PageChanges): NeuronChanges {
  return {
    ...(tags && { tags }),
    ...(audience !== undefined && { audience: audience ?? undefined }),
    ...(aliases && { aliases }),
    ...(edges && { edges }),
  }
}

function titleOf(typed: string): string {
  const title = oneLine(typed, 2 * 500)
  if (title === '') throw new ValidationError({ title: ['must not be blank'] })
  return title
}

function wishedPath(path: string | undefined): string | undefined {
  return path === undefined ? undefined : readMetadata({ path }).path
}

/** Rejects a path that another file has, that is below another file, or that is a folder of others. */
function checkPath({ sql }: MainView, path: string, from: string | undefined): void {
  const blocking = blockedFolder(sql, path)
  if (blocking !== undefined) throw new ValidationError({ path: [`needs a folder where the file ${blocking} is`] })
  const [other] = [...filesAtKey(sql, pathKey(path))].filter((it) => it !== from)
  if (other !== undefined) throw new ValidationError({ path: [`is taken by ${other}`] })
}

function blobOf(text: string): Oid {
  return hashObject('blob', Buffer.from(text))
}
