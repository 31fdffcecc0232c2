import { z } from 'zod'
import { edgeTypes } from '../../../contract/enumerations.ts'
import type { EdgeType } from '../../../contract/vocabulary.ts'
import type { OpenPage } from '../../../pages/write/open-page.ts'
import type { PageChanges } from '../../../pages/write/written-page.ts'
import { unixLines } from '../../../rules/text/line-endings.ts'
import { typedItems, typedTags } from '../../../rules/text/lines.ts'
import type { FormErrors } from '../../layout/form.ts'

const Text = z.string().default('')
const Field = z.string().exactOptional()
const Names = z.preprocess((value) => (value === undefined ? [] : [value].flat()), z.array(z.string()))

/** Form of the editor. Accepts everything that a person can type, since a rejection here could not show it again. */
export const PageForm = z.object({
  /** Button that was pressed: `propose` or `publish`. */
  do: Text,
  candidate: Text,
  base: Text,
  note: Text,
  ...{ title: Field, path: Field, content: Field, tags: Field, aliases: Field, edges: Field, audience: Field },
  readers: Names,
})
export type PageForm = z.output<typeof PageForm>

/** Fields of the page itself. `audience`: `default`, or `listed` with `readers`. */
export type PageFields = Required<Omit<PageForm, 'do' | 'candidate' | 'base' | 'note'>>

export const audienceField = ['tool', 'public', 'student'] as const

const maxContentBytes = 512 * 1024
const maxTitle = 500
const maxTag = 100
const maxNote = 2000

export function fieldsOf({ title, path, content, tags, aliases, edges, audience }: OpenPage): PageFields {
  return {
    title,
    path: path.replace(/^neurons\//, '').replace(/\.md$/, ''),
    content,
    tags: tags.join(', '),
    aliases: aliases.join('\n'),
    edges: edges.map(({ type, target }) => `${type}: ${target}`).join('\n'),
    audience: audience === undefined ? 'default' : 'listed',
    readers: audience ?? [],
  }
}

export const blankFields: PageFields = {
  ...{ title: '', path: '', content: '', tags: '', aliases: '', edges: '' },
  ...{ audience: 'default', readers: [] },
}

/** Returns the fields of a form. A field that was not sent keeps its shown value. */
export function typedIn(
  { do: _do, candidate: _candidate, base: _base, note: _note, ...sent }: PageForm,
  shown: PageFields,
): PageFields {
  return { ...shown, ...sent, readers: sent.audience === undefined ? shown.readers : sent.readers }
}

export function isTooLarge({ content }: Pick<PageFields, 'content'>): boolean {
  return Buffer.byteLength(content) > maxContentBytes
}

/** True if a field differs from what was shown. */
export function isTyped(key: keyof PageFields, typed: PageFields, shown: PageFields): boolean {
  const [now, before] = [plain(typed[key]), plain(shown[key])]
  return key === 'content' ? now !== before : now.trim() !== before.trim()
}

export function formChanges(typed: PageFields, shown: PageFields): { changes: PageChanges; errors: FormErrors } {
  const is = (key: keyof PageFields) => isTyped(key, typed, shown)
  const changes: PageChanges = {}
  const fieldErrors: Record<string, string[]> = {}
  const refuse = (key: string, message: string) => {
    fieldErrors[key] = [...(fieldErrors[key] ?? []), message]
  }

  if (is('title')) changes.title = typed.title
  if ([...typed.title].length > maxTitle) refuse('title', `must be at most ${maxTitle} characters`)
  if (is('content')) changes.content = typed.content
  if (isTooLarge(typed)) refuse('content', 'must be at most 512 KB, with the pictures in it')
  if (is('tags')) changes.tags = typedTags(typed.tags)
  if (changes.tags?.some((tag) => tag.length > maxTag)) refuse('tags', `must be at most ${maxTag} characters each`)
  if (is('aliases')) changes.aliases = typedItems(typed.aliases, '\n')
  if (is('edges')) changes.edges = edgesOf(typed.edges, (message) => refuse('edges', message))
  if (is('audience') || (typed.audience === 'listed' && is('readers'))) {
    changes.audience = typed.audience === 'listed' ? [...typed.readers] : null
  }
  return { changes, errors: { fieldErrors } }
}

/** Returns the note for reviewers; undefined if it is blank. */
export function noteOf({ note }: Pick<PageForm, 'note'>): string | undefined {
  const text = note.trim().slice(0, maxNote).toWellFormed()
  return text === '' ? undefined : text
}

function edgesOf(text: string, refuse: (message: string) => void): { type: EdgeType; target: string }[] {
  return text.split('\n').flatMap((line, at) => {
    if (line.trim() === '') return []
    const { name, target = '' } = /^(?<name>[\w-]*)\s*:\s*(?<target>\S.*)$/.exec(line.trim())?.groups ?? {}
    const type = edgeTypes.find((known) => known === name)
    if (type !== undefined) return [{ type, target }]
    refuse(`Line ${at + 1} of the relations must be a type and a page, as in “supersedes: Old policy”.`)
    return []
  })
}

function plain(value: string | readonly string[]): string {
  return typeof value === 'string' ? unixLines(value) : JSON.stringify([...value].sort())
}
