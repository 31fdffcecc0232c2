import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { GitError } from '../../git/git-error.ts'
import { parseCandidate } from '../../markdown/file/candidate-file.ts'
import { fileLayout, replaceContent } from '../../markdown/file/front-matter.ts'
import { editNeuron, parseNeuronFile } from '../../markdown/file/neuron-file.ts'
import { isTestPath, parseTestFile } from '../../markdown/file/test-file.ts'
import { mergeBlocks } from '../../markdown/merge/merge-page.ts'
import type { Candidate, CarriedTests } from '../../rules/candidates/candidate.ts'
import { type Conflict, mergeMarked, mergeText } from '../../rules/neurons/merge.ts'
import { keepLineEndings, unixLines } from '../../rules/text/line-endings.ts'
import { blobAtPath } from '../projection/file-queries.ts'
import type { NeuronRow } from '../projection/neuron-queries.ts'
import type { Projection } from '../projection/projection.ts'
import { versionAt } from '../projection/version-queries.ts'

/** State of main for computing a candidate: its tables, and how to read a blob. */
export type MainView = { sql: Projection['read']; readText(oid: string): Promise<string> }

/**
 * Returns the content that a target Neuron gets from a candidate: as proposed if the target is unchanged, else merged with the changes
 * since. Text keeps the target's line endings; a whole page has its own.
 * @throws {GanglionError} `merge_conflict` with `conflicts` and the `commit` of the target's present version
 * @throws {FrontMatterError}
 * @throws {ValidationError} for an edit based on a commit without the target
 */
export async function mergeIntoTarget(
  { sql, readText }: MainView,
  candidate: Candidate,
  edit: { content?: string | undefined; base?: string | undefined },
  target: NeuronRow,
): Promise<string> {
  const proposed = proposedContent(candidate, edit)
  const current = await readText(target.blob)
  const { content: now } = parseNeuronFile(current)
  const fitting = (text: string) =>
    candidate.frontMatter === null ? keepLineEndings(now, text, fileLayout(current).eol) : text
  const given = edit.base === undefined ? candidate : { base: versionAt(sql, target.seqId, edit.base)?.blob ?? null }
  if (given !== candidate && given.base === null) throw new ValidationError({ base: ['is no version of the Neuron'] })
  if (given.base === null) return fitting(proposed)
  // Nothing is known of a lost base, so every difference conflicts.
  const base = parseNeuronFile((await baseOf({ readText }, given)) ?? '').content
  const merged = mergeText(base, now, proposed)
  if ('text' in merged) return fitting(merged.text)
  throw mergeConflict(merged.conflicts, target)
}

/** Returns the content that a candidate or its edit proposes: text with LF, or a whole page with its own line endings. */
export function proposedContent(
  { frontMatter, content }: Pick<Candidate, 'frontMatter' | 'content'>,
  edit: { content?: string | undefined },
): string {
  if (frontMatter === null) return unixLines(edit.content ?? content)
  return edit.content === undefined ? content : keepLineEndings(content, edit.content, fileLayout(frontMatter).eol)
}

/**
 * Returns the target's page with the front matter that it gets from a candidate: its own if the candidate proposes none. Back-pointers that
 * changed meanwhile are not a change, and a page that names the candidate's connector states its own origin.
 * @throws {GanglionError} `merge_conflict`, as {@link mergeIntoTarget}
 * @throws {FrontMatterError}
 */
export async function mergeFrontMatter(
  { readText }: Pick<MainView, 'readText'>,
  candidate: Candidate,
  target: NeuronRow,
  current: string,
): Promise<string> {
  const { frontMatter, connector, base, mergeBase } = candidate
  if (frontMatter === null) return current
  const backPointer = parseNeuronFile(current).fields.candidate
  const blockOf = (text: string) => editNeuron(text.slice(0, fileLayout(text).bodyStart), { candidate: backPointer })
  const [now, proposed] = [blockOf(current), blockOf(frontMatter)]
  if (now === proposed) return current
  const isBase = base === target.blob && mergeBase === undefined
  const before = isBase ? now : blockOf((await baseOf({ readText }, candidate)) ?? current)
  const told = parseNeuronFile(frontMatter).fields.connector === connector ? origin : new Set<string>()
  const blocks = { base: before, current: now, proposed }
  const merged = mergeBlocks(blocks, told)
  if ('text' in merged) return merged.text + current.slice(fileLayout(current).bodyStart)
  throw mergeConflict(merged.conflicts, target)
}

/**
 * Returns the target's page with all changes of a candidate, and with markers around conflicts. This is the only text of such a candidate
 * to show or edit, since its own text would revert the changes of others.
 * @throws {FrontMatterError}
 */
export async function markedPage(
  { readText }: Pick<MainView, 'readText'>,
  candidate: Candidate,
  target: NeuronRow,
): Promise<string> {
  const current = await readText(target.blob)
  const base = (await baseOf({ readText }, candidate)) ?? ''
  const blockOf = (page: string) => page.slice(0, fileLayout(page).bodyStart)
  const contentOf = (page: string) => parseNeuronFile(page).content
  const block = await mergeFrontMatter({ readText }, candidate, target, current).then(blockOf, (error: unknown) => {
    if (!isConflict(error)) throw error
    return mergeMarked(blockOf(base), blockOf(current), candidate.frontMatter ?? '').text
  })
  const content = mergeMarked(contentOf(base), contentOf(current), proposedContent(candidate, {})).text
  const body = current.slice(fileLayout(current).bodyStart)
  return block + replaceContent(body, content, fileLayout(current).eol)
}

/**
 * Returns the page that a candidate's changes are relative to; `undefined` if it has none, or if it is lost: after a crash the queue may
 * name a version that never reached main and that git then removes.
 * @throws {FrontMatterError}
 */
export async function baseOf(
  { readText }: Pick<MainView, 'readText'>,
  { base, mergeBase }: Pick<Candidate, 'base' | 'mergeBase'>,
): Promise<string | undefined> {
  if (base === null) return undefined
  try {
    const page = await readText(base)
    return mergeBase === undefined ? page : asProposed(page, parseCandidate(await readText(mergeBase)))
  } catch (error) {
    if (error instanceof GitError && error.code === 'missing-object') return undefined
    throw error
  }
}

/** Returns a page with the content, title, tags, edges and provenance that a whole-page candidate proposed. @throws {FrontMatterError} */
export function asProposed(page: string, { frontMatter, content }: Pick<Candidate, 'frontMatter' | 'content'>): string {
  const { title, tags, edges, sources, connector, sourceUrl } = parseNeuronFile(frontMatter ?? '').fields
  return editNeuron(page, { title, tags, edges, sources, connector, sourceUrl }, content)
}

/** Keys that record how a version entered. */
const origin: ReadonlySet<string> = new Set(['connector', 'sourceUrl', 'metadata'])

function isConflict(error: unknown): boolean {
  return error instanceof GanglionError && error.code === 'merge_conflict'
}

function mergeConflict(conflicts: Conflict[], { commit }: NeuronRow): GanglionError {
  return new GanglionError('merge_conflict', undefined, { conflicts, commit })
}

/** Change of a file of answer tests; null: the file is absent. `conflicts`: `after` is then the proposed text, unmerged. */
export type TestFileChange = { path: string; before: string | null; after: string | null; conflicts?: Conflict[] }

/** Returns the changes of a candidate to the files of answer tests on the present main. */
export async function testFileChanges(
  view: MainView,
  { tests = [] }: Pick<Candidate, 'tests'>,
): Promise<TestFileChange[]> {
  const changes = await Promise.all(tests.map((file) => mergedTests(view, file)))
  return changes.filter(({ before, after }) => before !== after)
}

/** Returns the files that candidates change, as their approval commits them. @throws {GanglionError} `merge_conflict` */
export async function mergedTestFiles(
  view: MainView,
  candidates: readonly Candidate[],
): Promise<Map<string, string | null>> {
  const files = new Map<string, string | null>()
  for (const { path, after, conflicts } of (
    await Promise.all(candidates.map((one) => testFileChanges(view, one)))
  ).flat()) {
    if (conflicts === undefined && (files.get(path) ?? after) === after) files.set(path, after)
    else
      throw new GanglionError('merge_conflict', `${path} has changed since: propose the tests again.`, {
        conflicts: conflicts ?? [],
      })
  }
  return files
}

/** Merges tests that both sides appended, which would be a conflict of lines. */
function bothAppended(old: string, ours: string, theirs: string): string | undefined {
  if (!ours.startsWith(old) || !theirs.startsWith(old) || !/(?:^|\n)$/.test(ours)) return undefined
  const added = theirs.slice(old.length)
  return ours.slice(old.length).includes(added) ? ours : ours + added
}

async function mergedTests({ sql, readText }: MainView, { path, base, text }: CarriedTests): Promise<TestFileChange> {
  const blob = isTestPath(path) ? blobAtPath(sql, path) : undefined
  const before = blob === undefined ? null : await readText(blob)
  const began = (await baseOf({ readText }, { base })) ?? null
  if (before === text || before === began) return { path, before, after: text }
  const [old, ours, theirs] = [began ?? '', before ?? '', text ?? '']
  const unmerged = { path, before, after: text, conflicts: [{ line: 1, base: old, current: ours, proposed: theirs }] }
  if (before === null || text === null) return unmerged
  const merged = mergeText(old, ours, theirs)
  const after = 'text' in merged ? merged.text : bothAppended(old, ours, theirs)
  const isSound = after !== undefined && parseTestFile(after).findings.every(({ severity }) => severity === 'warning')
  return isSound
    ? { path, before, after }
    : { ...unmerged, ...('conflicts' in merged && { conflicts: merged.conflicts }) }
}
