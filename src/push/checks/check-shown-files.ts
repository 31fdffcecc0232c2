import type { Oid } from '../../git/objects/object.ts'
import { attachmentLookup, isOpenFolder } from '../../kb/access/attachment-lookup.ts'
import type { KbView } from '../../kb/access/kb-view.ts'
import { fileBlob, filesBeside, referencesToFile } from '../../kb/projection/file-queries.ts'
import type { MainTables } from '../../kb/projection/projection.ts'
import { changedLookup } from '../../kb/writing/rename/follow-files.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import { fileNameKey, resolveFile } from '../../rules/links/file-target.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { oneLine } from '../../rules/text/text.ts'
import { pauses } from '../../system/pauses.ts'

/**
 * Finds Neurons that open a folder to readers who saw none of its pages: links of others lead them to its files by name then.
 * @param view of readers
 */
export function checkOpenedFolders(sql: MainTables, view: KbView, files: readonly CheckedFile[]): Finding[] {
  return files.flatMap(({ path, neuron }) => {
    const folder = path.slice(0, path.lastIndexOf('/') + 1)
    if (
      neuron === undefined ||
      !view.sees(neuron.fields) ||
      isOpenFolder(sql, folder, (seqId) => view.seesNeuron(seqId))
    )
      return []
    const isNamed = (file: string) => {
      const key = fileNameKey(file)
      return key !== undefined && view.rows((sql) => referencesToFile(sql, key)).next().done === false
    }
    const named = filesBeside(sql, folder)
      .filter(isNamed)
      .take(maxShown + 1)
      .toArray()
    if (named.length === 0) return []
    const listed = named.slice(0, maxShown).map((file) => oneLine(file, 200))
    const more = named.length > maxShown ? ' and others' : ''
    const message = `Readers see no page of this folder yet. With this one links by name show them its files: ${listed.join(', ')}${more}.`
    return [{ rule: 'shown-files', severity: 'warning', path, line: 1, message }]
  })
}

/** Links that are looked at for one change. */
const maxLinks = 10_000
const maxShown = 5

/** A change of main's files; without `after` it removes one. */
type Change = { path: string; after?: Oid | undefined }

/** Finds unchanged Neurons of which a link shows another file once these changes are in, or none. */
export async function checkShownFiles(sql: MainTables, changes: readonly Change[]): Promise<Finding[]> {
  const changedPaths = new Set(changes.map(({ path }) => path))
  const files = new Map(changes.filter(({ path }) => !isNeuronPath(path)).map(({ path, after }) => [path, after]))
  const before = attachmentLookup(sql)
  const now = changedLookup(before, new Map([...files].map(([path, after]) => [path, after !== undefined])))
  const pause = pauses()
  const found = new Map<string, { path: string; shown: string | undefined; pages: Set<string> }>()
  let looked = 0
  for (const [path, after] of files) {
    const key = fileNameKey(path)
    const isChangedOnly = (fileBlob(sql, path) === undefined) === (after === undefined)
    if (key === undefined || isChangedOnly) continue
    for (const { page, target } of referencesToFile(sql, key)) {
      if (++looked > maxLinks) break
      await pause()
      const was = changedPaths.has(page) ? undefined : resolveFile(target, page, before)
      const shown = was === undefined ? undefined : resolveFile(target, page, now)
      if (was === undefined || shown === was) continue
      const isMoved = shown !== undefined && fileBlob(sql, was) === (files.get(shown) ?? fileBlob(sql, shown))
      if (isMoved) continue
      const changed = files.has(was) ? was : (shown ?? was)
      const finding = found.get(`${changed}\n${shown}`) ?? { path: changed, shown, pages: new Set() }
      finding.pages.add(page)
      found.set(`${changed}\n${shown}`, finding)
    }
  }
  return [...found.values()].map(({ path, shown, pages }) => {
    const listed = [...pages].sort().slice(0, maxShown)
    const more = pages.size > maxShown ? ` and ${pages.size - maxShown} more` : ''
    const count = pages.size === 1 ? '1 Neuron that shows a file' : `${pages.size} Neurons that show a file`
    const what = shown === undefined ? 'would show none' : `would show ${oneLine(shown, 200)} instead`
    const message = `${count} by this name ${what}: ${listed.map((page) => oneLine(page, 200)).join(', ')}${more}.`
    return { rule: 'shown-files', severity: 'warning', path, line: 1, message }
  })
}
