import type { Command } from 'commander'
import { z } from 'zod'
import { openContext } from '../../app/open-context.ts'
import { withoutCredentials } from '../../git/native/operators-git.ts'
import { recordAct } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import { type CreatedKnowledgeBase, createKnowledgeBase, operator } from '../../kb/create-kb.ts'
import { adoptKnowledgeBase } from '../../operate/adopt/adopt-kb.ts'
import { changeKb, type LifecycleChange } from '../../operate/life-cycle.ts'
import { SeqPrefix, Slug } from '../../rules/neurons/seq-id.ts'
import { counted } from '../../rules/text/numbers.ts'
import { actOn, tenantIdOf } from '../act-on.ts'
import { act, type CommandAnswer } from '../command.ts'
import { addDelete, exportOption } from '../delete-option.ts'
import { argument, OfTenant, option } from '../options.ts'
import type { Environment } from '../settings/environment.ts'
import { table } from '../table.ts'
import { requireTenant, tenantSlugs } from '../with-ganglion.ts'

export function addKnowledgeBaseCommands(program: Command): void {
  const kb = program.command('kb').description('make, list, rename, disable and delete knowledge bases')

  act(
    kb
      .command('create')
      .description('make a knowledge base: a git repository of its own')
      .addHelpText('after', '\nExample:\n  ganglion kb create handbook --tenant acme --title "Staff handbook"'),
    z.object({
      slug: argument(Slug, 'its name in URLs: a-z, 0-9 and -'),
      tenant: option(Slug, '<slug>', 'tenant that it belongs to, made if it is new'),
      title: option(z.string().min(1).max(500).exactOptional(), '<title>', 'its title'),
      prefix: option(SeqPrefix.exactOptional(), '<prefix>', 'prefix of its seqIds (default: the slug)'),
      language: option(z.string().min(1).exactOptional(), '<language>', 'a language tag, e.g. en'),
    }),
    (input, environment) =>
      makeKb(environment, async (ctx) => {
        const made = await createKnowledgeBase(ctx, input)
        return { made, text: `Made the knowledge base ${made.slug} (${made.id}) of ${made.tenant}:\n${made.gitDir}` }
      }),
  )

  act(
    kb
      .command('adopt')
      .description(
        'make a knowledge base from a git repository with its history: a full copy of another one, or any Markdown',
      )
      .addHelpText(
        'after',
        '\nSafe to run next to a running server. It fetches with your git, its keys and its helpers.\n\nExample:\n  ganglion kb adopt handbook.git --tenant acme',
      ),
    z.object({
      source: argument(z.string().min(1), 'a folder, or a URL that git can clone'),
      tenant: option(
        Slug.exactOptional(),
        '<slug>',
        'tenant that it belongs to, made if it is new (default: the only one)',
      ),
      slug: option(
        Slug.exactOptional(),
        '<slug>',
        'its name in URLs (default: that of the copied one, or of the folder)',
      ),
    }),
    ({ source, slug, tenant }, environment) =>
      makeKb(environment, async (ctx) => {
        const made = await adoptKnowledgeBase(ctx, { source, slug, tenant: tenant ?? (await onlyTenant(ctx)) })
        const kind = made.isMirror ? 'copy of a knowledge base' : 'history'
        const text = `Adopted the ${kind} as ${made.slug} (${made.id}) of ${made.tenant}, with ${counted(made.neurons, 'Neuron')}:\n${made.gitDir}`
        return { made, text, detail: withoutCredentials(source) }
      }),
  )

  actOn(
    kb.command('list').description('list knowledge bases'),
    OfTenant,
    async ({ tenant }, { directory, tenants, knowledgeBases }) => {
      const found = await knowledgeBases.all(await tenantIdOf(tenants, tenant))
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
    },
  )

  const one = (name: string, description: string) => kb.command(name).description(description)
  const change = async (input: z.output<typeof One>, ctx: Context, change: LifecycleChange, done: string) => {
    const { tenant, kb } = await findKb(input, ctx)
    await changeKb(ctx, { ...operator, tenantId: tenant.id }, kb, change)
    return { json: { id: kb.id, slug: change.slug ?? kb.slug }, text: done }
  }
  actOn(
    one('rename', 'rename a knowledge base; its old name still leads to it'),
    One.extend({ slug: argument(Slug, 'the new name: a-z, 0-9 and -') }),
    ({ slug, ...input }, ctx) => change(input, ctx, { slug }, `Renamed ${input.kb} to ${slug}.`),
  )
  actOn(one('disable', 'serve a knowledge base no more; nothing is lost'), One, (input, ctx) =>
    change(input, ctx, { isDisabled: true }, `Disabled ${input.kb}.`),
  )
  actOn(one('enable', 'serve a knowledge base again'), One, (input, ctx) =>
    change(input, ctx, { isDisabled: false }, `Enabled ${input.kb}.`),
  )
  addDelete(one('delete', 'delete a knowledge base, after an export'), One.extend(exportOption), findKb)
}

type Made = { made: CreatedKnowledgeBase; text: string; detail?: string }

/** Creates a knowledge base, and the data directory if needed, and records it in the audit. */
async function makeKb(environment: Environment, make: (ctx: Context) => Promise<Made>): Promise<CommandAnswer> {
  const { dataDir, database, bucket, objects, publicUrl } = environment
  await using ctx = await openContext({ dataDir, database, bucket, objects, publicUrl, whenOlder: 'create' })
  const { made, text, detail = '' } = await make(ctx)
  const tenantId = (await ctx.tenants.find(made.tenant))?.id ?? ''
  await recordAct(ctx, { ...operator, tenantId }, { action: 'kb.created', subject: made.slug, detail })
  return { json: made, text }
}

async function onlyTenant({ tenants }: Context): Promise<string> {
  const [only, another] = await tenants.list()
  if (only === undefined || another !== undefined) throw new Error('Say whose knowledge base it is: --tenant <slug>.')
  return only.slug
}

const One = z.object({ kb: argument(z.string()), tenant: option(z.string(), '<slug>', 'tenant that it belongs to') })

async function findKb({ tenant: slug, kb: name }: z.output<typeof One>, { tenants, knowledgeBases }: Context) {
  const tenant = await requireTenant(tenants, slug)
  const kb = await knowledgeBases.find(tenant.id, name, { disabled: true })
  if (kb === undefined) throw new Error(`The tenant ${slug} has no knowledge base ${name}.`)
  return { tenant, kb }
}
