import type { Command } from 'commander'
import { z } from 'zod'
import { openContext } from '../../app/open-context.ts'
import { createKnowledgeBase } from '../../kb/create-kb.ts'
import { SeqPrefix, Slug } from '../../rules/neurons/seq-id.ts'
import { act } from '../command.ts'
import { table } from '../table.ts'
import { requireTenant, tenantSlugs, withContext } from '../with-ganglion.ts'

export function addKnowledgeBaseCommands(program: Command): void {
  const kb = program.command('kb').description('make and list knowledge bases')

  act(
    kb
      .command('create')
      .description('make a knowledge base: a git repository of its own')
      .argument('<slug>', 'its name in addresses: a-z, 0-9 and -')
      .requiredOption('--tenant <slug>', 'whose it is; made if it is new')
      .option('--title <title>', 'what people call it')
      .option('--prefix <prefix>', 'what its seqIds begin with (default: the slug)')
      .option('--language <language>', 'a language tag, e.g. en')
      .addHelpText('after', '\nExample:\n  ganglion kb create handbook --tenant acme --title "Staff handbook"'),
    z.object({
      slug: Slug,
      tenant: Slug,
      title: z.string().min(1).max(500).exactOptional(),
      prefix: SeqPrefix.exactOptional(),
      language: z.string().min(1).exactOptional(),
    }),
    async (input, { dataDir, database, bucket, objects, publicUrl }) => {
      const ctx = await openContext({ dataDir, database, bucket, objects, publicUrl, whenOlder: 'refuse' })
      try {
        const made = await createKnowledgeBase(ctx, input)
        return {
          json: made,
          text: `Made the knowledge base ${made.slug} (${made.id}) of ${made.tenant}:\n${made.gitDir}`,
        }
      } finally {
        await ctx.close()
      }
    },
  )

  act(
    kb.command('list').description('list knowledge bases').option('--tenant <slug>', 'of one tenant only'),
    z.object({ tenant: z.string().optional() }),
    ({ tenant }, environment) =>
      withContext(environment, async ({ directory, tenants, knowledgeBases }) => {
        const found = await knowledgeBases.list(
          tenant === undefined ? undefined : (await requireTenant(tenants, tenant)).id,
        )
        const slugs = await tenantSlugs(tenants)
        const listed = found.map(({ id, slug, prefix, tenantId, createdAt }) => ({
          id,
          slug,
          prefix,
          tenant: slugs.get(tenantId) ?? tenantId,
          gitDir: directory.repository(id),
          createdAt,
        }))
        const rows = listed.map((row) => [row.id, row.tenant, row.slug, row.prefix, row.gitDir])
        return {
          json: { knowledgeBases: listed },
          text:
            rows.length === 0
              ? 'There are no knowledge bases.'
              : table(['ID', 'TENANT', 'SLUG', 'PREFIX', 'REPOSITORY'], rows),
        }
      }),
  )
}
