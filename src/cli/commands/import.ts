import { resolve } from 'node:path'
import type { Command } from 'commander'
import { z } from 'zod'
import type { Context } from '../../kb/context.ts'
import { operator } from '../../kb/create-kb.ts'
import type { KnowledgeBase } from '../../kb/knowledge-base.ts'
import { importDirectory } from '../../operate/import/import-directory.ts'
import { act } from '../command.ts'
import { folderProblem } from '../folder.ts'
import { progressBar } from '../progress-bar.ts'
import { requireTenant, withContext } from '../with-ganglion.ts'
import { formatImport } from './import-report.ts'

export function addImportCommand(program: Command): void {
  act(
    program
      .command('import')
      .description('make Neurons of a folder of Markdown; again, of what has changed in it')
      .argument('<dir>', 'the folder: an Obsidian vault, a checkout of a wiki')
      .requiredOption('--tenant <slug>', 'whose knowledge base it is')
      .requiredOption('--kb <slug>', 'the knowledge base')
      .option(
        '--source <name>',
        "what tells the folder from others with the same file names (default: the folder's name)",
      )
      .option('--prune', 'propose to remove the Neurons of notes that are no longer in the folder')
      .option('--inline-tags', 'let #tags in the text of Neurons count (default: for an Obsidian vault)')
      .addHelpText('after', '\nExample:\n  ganglion import ~/notes --tenant acme --kb handbook'),
    z.object({
      dir: z.string(),
      tenant: z.string(),
      kb: z.string(),
      source: z.string().min(1).optional(),
      prune: z.boolean().optional(),
      inlineTags: z.boolean().optional(),
    }),
    ({ dir, tenant, kb: slug, source, prune, inlineTags }, environment) =>
      withContext(environment, async (ctx) => {
        const folder = resolve(dir)
        const problem = await folderProblem(folder, 'ganglion import takes a folder.')
        if (problem !== undefined) throw new Error(problem)
        const kb = await requireKb(ctx, tenant, slug)
        const progress = progressBar(process.stderr)
        try {
          const report = await importDirectory(kb, folder, {
            actor: operator,
            source,
            prune,
            inlineTags,
            now: ctx.now,
            onProgress: progress.show,
          })
          return { json: report, text: formatImport(report) }
        } finally {
          progress.clear()
        }
      }),
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
