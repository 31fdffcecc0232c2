import type { Oid } from '../../git/objects/object.ts'
import { openFolders, parentOf } from '../../kb/access/attachment-lookup.ts'
import type { KbView } from '../../kb/access/kb-view.ts'
import { fileBlob, filesInFolder, referencesToFile } from '../../kb/projection/file-queries.ts'
import { namesInFile } from '../../kb/projection/neuron-queries.ts'
import type { MainTables } from '../../kb/projection/projection.ts'
import { changedLookup } from '../../kb/writing/rename/follow-files.ts'
import type { CheckedFile } from '../../rules/check/checked-file.ts'
import { fileNameKey, meaningOf } from '../../rules/links/file-target.ts'
import { folderPath, type LinkAddress } from '../../rules/links/link-target.ts'
import type { Finding } from '../../rules/neurons/neuron.ts'
import { isNeuronPath } from '../../rules/paths/neuron-path.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { pauses } from '../../system/pauses.ts'
import { firstFew, maxInbound, namesAfter, namesAndFiles, namesIn, tooManyLinks } from './check-inbound.ts'

/**
 * Finds Neurons that open folders to readers who saw none of their pages: links of other pages by file name lead into these folders then.
 * @param view of readers
 */
export async function checkOpenedFolders(
  sql: MainTables,
  view: KbView,
  files: readonly CheckedFile[],
): Promise<Finding[]> {
  const sees = (seqId: string) => view.seesNeuron(seqId)
  const isOpenFolder = openFolders(sql, sees)
  const seen = files.filter(({ neuron }) => neuron !== undefined && view.sees(neuron.fields))
  const first = new Map(seen.toReversed().map(({ path }) => [folderPath(path), path]))
  const pause = pauses()
  const told = new Set<string>()
  const findings: Finding[] = []
  let looked = 0
  for (const [folder, path] of first) {
    if (isOpenFolder(folder)) continue
    let around = folder
    while (around !== '' && !isOpenFolder(parentOf(around))) around = parentOf(around)
    const isOpenedFolder = openFolders(sql, sees, folder)
    const named: string[] = []
    for (const file of filesInFolder(sql, around)) {
      if (named.length > maxShown) break
      if (++looked > maxInbound) {
        const message = `The folder is opened to readers, and more than ${maxInbound} files are in it: the others are not looked at.`
        findings.push(tooManyLinks(path, message))
        break
      }
      await pause()
      if (told.has(file) || view.files.has(file) || !isOpenedFolder(folderPath(file))) continue
      const key = fileNameKey(file)
      if (key === undefined || view.rows((sql) => referencesToFile(sql, key)).next().done !== false) continue
      told.add(file)
      named.push(file)
    }
    if (named.length === 0) continue
    const listed = named.slice(0, maxShown).map((file) => oneLine(file, 200))
    const more = named.length > maxShown ? ' and others' : ''
    const message = `Readers see no page of this folder yet. With this one links by name show them files: ${listed.join(', ')}${more}.`
    findings.push({ rule: 'shown-files', severity: 'warning', path, line: 1, message })
  }
  return findings
}

const maxShown = 5

/** Change of one of main's files; without `after` a removal. */
type Change = { path: string; after?: Oid | undefined }

/** Finds unchanged Neurons with a link that shows another file, a page, or nothing after these changes. */
export async function checkShownFiles(
  sql: MainTables,
  changes: readonly Change[],
  checked: readonly CheckedFile[] = [],
): Promise<Finding[]> {
  const changedPaths = new Set(changes.map(({ path }) => path))
  const files = new Map(changes.filter(({ path }) => !isNeuronPath(path)).map(({ path, after }) => [path, after]))
  const before = namesAndFiles(sql)
  const now = {
    names: namesAfter(sql, before.names, { changedPaths, files: checked }),
    files: changedLookup(before.files, new Map([...files].map(([path, after]) => [path, after !== undefined]))),
  }
  const pages = new Map(checked.map(({ path, neuron }) => [neuron?.fields.seqId ?? path, path]))
  const shownBy = (link: LinkAddress) => {
    const meaning = meaningOf(link, now)
    if ('seqId' in meaning) return pages.get(meaning.seqId) ?? namesInFile(sql, meaning.seqId)?.path
    return 'file' in meaning ? meaning.file : undefined
  }
  const isNew = ([path, after]: [string, Oid | undefined]) =>
    (fileBlob(sql, path) === undefined) !== (after === undefined)
  const names = checked.flatMap((file) => namesIn(sql, file).map(({ exact }) => exact))
  const keys = new Set(
    [...[...files].filter(isNew).map(([path]) => path), ...names].flatMap((name) => fileNameKey(name) ?? []),
  )
  const pause = pauses()
  const found = new Map<string, { path: string; shown: string | undefined; pages: Set<string> }>()
  const findings: Finding[] = []
  let looked = 0
  for (const key of keys) {
    if (looked > maxInbound) break
    for (const { page: from, target, form } of referencesToFile(sql, key)) {
      if (++looked > maxInbound) {
        const message = `More than ${maxInbound} links name the files and pages that this push adds or removes: the others are not looked at.`
        findings.push(tooManyLinks(changes[0]?.path ?? checked[0]?.path ?? '', message))
        break
      }
      await pause()
      const link = { target, form, from }
      const meaning = changedPaths.has(from) ? undefined : meaningOf(link, before)
      if (meaning === undefined || !('file' in meaning)) continue
      const { file: was } = meaning
      const shown = shownBy(link)
      if (shown === was) continue
      const isMoved = shown !== undefined && fileBlob(sql, was) === (files.get(shown) ?? fileBlob(sql, shown))
      if (isMoved) continue
      const changed = files.has(was) ? was : (shown ?? was)
      const isFirst = () => ({ path: changed, shown, pages: new Set<string>() })
      found.getOrInsertComputed(`${changed}\n${shown}`, isFirst).pages.add(from)
    }
  }
  const others = [...found.values()].map(({ path, shown, pages }): Finding => {
    const listed = [...pages].sort().map((page) => oneLine(page, 200))
    const count = pages.size === 1 ? '1 Neuron that shows a file' : `${pages.size} Neurons that show a file`
    const what = shown === undefined ? 'would show none' : `would show ${oneLine(shown, 200)} instead`
    const message = `${count} by this name ${what}: ${firstFew(listed)}.`
    return { rule: 'shown-files', severity: 'warning', path, line: 1, message }
  })
  return [...others, ...findings]
}
