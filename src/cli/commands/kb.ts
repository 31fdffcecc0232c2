import type { Command } from 'commander'
import { z } from 'zod'
import { openContext } from '../../app/open-context.ts'
import { recordAct } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import { createKnowledgeBase, operator } from '../../kb/create-kb.ts'
import { changeKb, type LifeChange } from '../../operate/life-cycle.ts'
import { SeqPrefix, Slug } from '../../rules/neurons/seq-id.ts'
import { act } from '../command.ts'
import { addDelete } from '../delete-option.ts'
import type { Environment } from '../settings/environment.ts'
import { table } from '../table.ts'
import { requireTenant, tenantSlugs, withContext } from '../with-ganglion.ts'

export function addKnowledgeBaseCommands(program: Command): void {
  const kb = program.command('kb').description('make, list, rename, disable and delete knowledge bases')

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
      const ctx = await openContext({ dataDir, database, bucket, objects, publicUrl, whenOlder: 'create' })
      try {
        const made = await createKnowledgeBase(ctx, input)
        const tenantId = (await ctx.tenants.find(made.tenant))?.id ?? ''
        await recordAct(ctx, { ...operator, tenantId }, { action: 'kb.created', subject: made.slug })
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
        const found = await knowledgeBases.all(
          tenant === undefined ? undefined : (await requireTenant(tenants, tenant)).id,
        )
        const slugs = await tenantSlugs(tenants)
        const listed = found.map(({ id, slug, prefix, tenantId, createdAt, disabledAt }) => ({
          id,
          slug,
          prefix,
          tenant: slugs.get(tenantId) ?? tenantId,
          gitDir: directory.repository(id),
          createdAt,
          ...(disabledAt === null ? {} : { disabledAt }),
        }))
        const rows = listed.map((row) => [
          ...[row.id, row.tenant, `${row.slug}${row.disabledAt === undefined ? '' : ' (disabled)'}`],
          ...[row.prefix, row.gitDir],
        ])
        return {
          json: { knowledgeBases: listed },
          text:
            rows.length === 0
              ? 'There are no knowledge bases.'
              : table(['ID', 'TENANT', 'SLUG', 'PREFIX', 'REPOSITORY'], rows),
        }
      }),
  )

  const one = (name: string, description: string) =>
    kb.command(name).description(description).argument('<kb>').requiredOption('--tenant <slug>', 'whose it is')
  const change = (input: z.output<typeof One>, environment: Environment, change: LifeChange, done: string) =>
    withContext(environment, async (ctx) => {
      const { tenant, kb } = await findKb(input, ctx)
      await changeKb(ctx, { ...operator, tenantId: tenant.id }, kb, change)
      return { json: { id: kb.id, slug: change.slug ?? kb.slug }, text: done }
    })
  act(
    one('rename', 'give a knowledge base another name; the old one goes on leading to it').argument(
      '<slug>',
      'the new name: a-z, 0-9 and -',
    ),
    One.extend({ slug: Slug }),
    ({ slug, ...input }, environment) => change(input, environment, { slug }, `Renamed ${input.kb} to ${slug}.`),
  )
  act(one('disable', 'serve a knowledge base no more; nothing is lost'), One, (input, environment) =>
    change(input, environment, { isDisabled: true }, `Disabled ${input.kb}.`),
  )
  act(one('enable', 'serve a knowledge base again'), One, (input, environment) =>
    change(input, environment, { isDisabled: false }, `Enabled ${input.kb}.`),
  )
  addDelete(one('delete', 'delete a knowledge base, after an export'), One, findKb)
}

const One = z.object({ kb: z.string(), tenant: z.string() })

async function findKb({ tenant: slug, kb: name }: z.output<typeof One>, { tenants, knowledgeBases }: Context) {
  const tenant = await requireTenant(tenants, slug)
  const kb = await knowledgeBases.find(tenant.id, name, { disabled: true })
  if (kb === undefined) throw new Error(`The tenant ${slug} has no knowledge base ${name}.`)
  return { tenant, kb }
}
