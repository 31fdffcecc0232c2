import type { ImportReport } from '../../operate/import/import-directory.ts'
import { oneLine } from '../../rules/text/text.ts'

const shown = 20

/** What an import did, for a person: the first 20 of each list. */
export function formatImport(report: ImportReport): string {
  const { created, updated, unchanged, pending, attachments } = report
  const { renamed, skipped, unresolved, conflicts, notices, moved, vanished, removalsProposed, partial } = report
  const counts = [
    `${created} Neurons created, ${updated} updated, ${unchanged} unchanged; ${attachments} attachments imported.`,
    ...(pending === 0 ? [] : [`${pending} conflict with what a curator has changed, and wait in the queue.`]),
    ...(removalsProposed === 0 ? [] : [`${removalsProposed} removals are proposed, and wait in the queue.`]),
  ]
  return [
    ...counts,
    ...section('Renamed', renamed, ({ from, to }) => `${from} -> ${to}`),
    ...section('Renamed in the folder', moved, ({ from, to }) => `${from} -> ${to}`),
    ...section('No longer in the folder', vanished, ({ path, seqId }) => `${path}: ${seqId}`),
    ...section('Conflicts', conflicts, ({ path, candidateId }) => `${path}: candidate ${candidateId}`),
    ...section('Notices', notices, ({ path, line, message }) => `${path}:${line}: ${message}`),
    ...section('Skipped', skipped, ({ path, reason }) => `${path}: ${reason}`),
    ...section('Links that lead nowhere', unresolved.filter(isMissing), linkLine),
    ...section(
      'Links that may mean several Neurons',
      unresolved.filter((link) => !isMissing(link)),
      linkLine,
    ),
    ...section('Only partly parsed, since they are too complex or have more than 2000 links', partial, (path) => path),
  ].join('\n')
}

function section<Item>(title: string, items: readonly Item[], lineOf: (item: Item) => string): string[] {
  if (items.length === 0) return []
  const lines = items.slice(0, shown).map((item) => `  ${oneLine(lineOf(item), 500)}`)
  const more = items.length > shown ? [`  and ${items.length - shown} more`] : []
  return ['', `${title} (${items.length}):`, ...lines, ...more]
}

type Link = ImportReport['unresolved'][number]

function isMissing({ reason }: Link): boolean {
  return reason === 'missing'
}

function linkLine({ path, target }: Link): string {
  return `${path}: [[${target}]]`
}
