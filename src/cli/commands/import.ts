import { resolve } from 'node:path'
import { setFlagsFromString } from 'node:v8'
import type { Command } from 'commander'
import { z } from 'zod'
import type { Context } from '../../kb/context.ts'
import { operator } from '../../kb/create-kb.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { type ImportReport, importDirectory } from '../../operate/import/import-directory.ts'
import { oneLine } from '../../rules/text/lines.ts'
import { isLocked } from '../../state/directory/directory-lock.ts'
import { actOn } from '../act-on.ts'
import { folderProblem } from '../cli-errors.ts'
import { argument, flag, option } from '../options.ts'
import { progressBar } from '../progress-bar.ts'
import { requireTenant } from '../with-ganglion.ts'

const maxShown = 20

const Imported = z.object({
  dir: argument(z.string(), 'the folder: an Obsidian vault, a checkout of a wiki'),
  tenant: option(z.string(), '<slug>', 'tenant of the knowledge base'),
  kb: option(z.string(), '<slug>', 'the knowledge base'),
  source: option(
    z.string().min(1).optional(),
    '<name>',
    "what tells the folder from others with the same file names (default: the folder's name)",
  ),
  prune: flag('propose to remove the Neurons of notes that are no longer in the folder'),
  inlineTags: flag('let #tags in the text of Neurons count (default: for an Obsidian vault)'),
})

type Link = ImportReport['unresolved'][number]

export function addImportCommand(program: Command): void {
  actOn(
    program
      .command('import')
      .description('import a folder of Markdown as Neurons; run it again to import what has changed')
      .addHelpText('after', '\nExample:\n  ganglion import ~/notes --tenant acme --kb handbook'),
    Imported,
    async ({ dir, tenant, kb: slug, source, prune, inlineTags }, ctx) => {
      const folder = resolve(dir)
      const problem = await folderProblem(folder, 'ganglion import takes a folder.')
      if (problem !== undefined) throw new Error(problem)
      const kb = await requireKb(ctx, tenant, slug)
      // The plan of a million notes stays in the heap, and V8 would collect it again and again for a tenth of garbage.
      setFlagsFromString('--heap-growing-percent=100')
      const progress = progressBar(process.stderr)
      try {
        const report = await importDirectory(kb, folder, {
          actor: operator,
          source,
          prune,
          inlineTags,
          isAlone: !isLocked(ctx.directory),
          now: ctx.now,
          onProgress: progress.show,
        })
        return { json: report, text: formatImport(report) }
      } finally {
        progress.clear()
      }
    },
  )
}

async function requireKb(ctx: Context, tenantSlug: string, slug: string): Promise<KnowledgeBase> {
  const tenant = await requireTenant(ctx.tenants, tenantSlug)
  const identity = await ctx.knowledgeBases.find(tenant.id, slug)
  if (identity !== undefined) return ctx.kbs.open(identity)
  const slugs = (await ctx.knowledgeBases.list(tenant.id)).map((known) => known.slug)
  const advice = `To make it: ganglion kb create ${slug} --tenant ${tenantSlug}`
  throw new Error(`${tenantSlug} has no knowledge base ${slug}. Known ones: ${slugs.join(', ') || 'none'}. ${advice}`)
}

/** Formats a report for people, with the first 20 entries of each list. */
export function formatImport(report: ImportReport): string {
  const { created, updated, unchanged, pending, attachments, files, links } = report
  const types = files.attachments.map(({ type, files }) => `${files} ${type}`).join(', ')
  const attached = files.attachments.reduce((sum, { files }) => sum + files, 0)
  const { renamed, skipped, unresolved, conflicts, notices, moved, vanished, removalsProposed, partial } = report
  const counts = [
    `${created} Neurons created, ${updated} updated, ${unchanged} unchanged; ${attachments} attachments imported.`,
    `Files in the folder: ${files.notes} notes, ${attached} attachments${types === '' ? '' : ` (${types})`}, ${skipped.length} skipped.`,
    `Links of what is new or changed: ${links.neurons} to Neurons, ${links.files} to files, ${links.otherKbs} to other knowledge bases, ${unresolved.length} that do not resolve.`,
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
    ...section('Links that lead nowhere', unresolved.filter(isFor('missing')), linkLine),
    ...section('Links to folders that have no page of their own', unresolved.filter(isFor('folder')), linkLine),
    ...section('Links that may mean several Neurons', unresolved.filter(isFor('ambiguous')), linkLine),
    ...section('Only partly parsed, since they are too complex or have too many links', partial, (path) => path),
  ].join('\n')
}

function section<Item>(title: string, items: readonly Item[], lineOf: (item: Item) => string): string[] {
  if (items.length === 0) return []
  const lines = items.slice(0, maxShown).map((item) => `  ${oneLine(lineOf(item), 500)}`)
  const more = items.length > maxShown ? [`  and ${items.length - maxShown} more`] : []
  return ['', `${title} (${items.length}):`, ...lines, ...more]
}

function isFor(wanted: Link['reason']): (link: Link) => boolean {
  return ({ reason }) => reason === wanted
}

function linkLine({ path, target }: Link): string {
  return `${path}: [[${target}]]`
}
