import type { Command } from 'commander'
import { z } from 'zod'
import { Email, PersonName } from '../../contract/people.ts'
import { Urls } from '../../contract/urls.ts'
import { PersonRole } from '../../contract/vocabulary.ts'
import type { Context } from '../../kb/context.ts'
import {
  type Administrator,
  changePerson,
  changeRole,
  invitePerson,
  makeResetLink,
  operatorOf,
  type PersonChange,
  renamePerson,
} from '../../people/manage-people.ts'
import type { Membership, User } from '../../state/accounts/users.ts'
import { actOn, tenantIdOf } from '../act-on.ts'
import { serverAddress } from '../announcement.ts'
import { argument, OfTenant, option } from '../options.ts'
import type { Environment } from '../settings/environment.ts'
import { table } from '../table.ts'
import { requireTenant } from '../with-ganglion.ts'

const roles = PersonRole.options.join(', ')

export function addUserCommands(program: Command): void {
  const user = program.command('user').description('make, list and change the people who may sign in')

  actOn(
    user
      .command('create')
      .description('make a user; prints the link by which they choose a password, for a day')
      .addHelpText('after', '\nExample:\n  ganglion user create ada@example.com --tenant acme --role admin --name Ada'),
    OneUser.extend({
      tenant: option(z.string(), '<slug>', 'tenant that the user works in'),
      role: option(PersonRole.default('curator'), '<role>', `role in the tenant: ${roles}`),
      name: option(PersonName.optional(), '<name>', 'display name (default: the first part of the e-mail)'),
    }),
    async ({ email, tenant, role, name = email.slice(0, email.indexOf('@')) }, ctx, environment) => {
      const { id } = await requireTenant(ctx.tenants, tenant)
      const link = urlOf(environment, await invitePerson(ctx, operatorOf(id), { email, name, role }))
      return {
        json: { email, role, tenant, link },
        text: `Made ${email}, ${role} of ${tenant}. ${linkText(link, 'a day')}`,
      }
    },
  )

  actOn(
    user.command('list').description('list users with their roles'),
    OfTenant,
    async ({ tenant }, { users, tenants }) => {
      const tenantId = await tenantIdOf(tenants, tenant)
      const listed = (await users.all()).filter(
        ({ memberships }) =>
          tenantId === undefined || memberships.some((membership) => membership.tenantId === tenantId),
      )
      return { json: { users: listed.map(toJson) }, text: userTable(listed) }
    },
  )

  actOn(
    user
      .command('set')
      .description("change a user's name, or their role in a tenant")
      .addHelpText('after', '\nExample:\n  ganglion user set ada@example.com --tenant acme --role reader'),
    OneUser.extend({
      name: option(PersonName.optional(), '<name>', 'display name'),
      tenant: option(z.string().optional(), '<slug>', 'tenant in which the role changes'),
      role: option(z.enum([...PersonRole.options, 'none']).optional(), '<role>', `${roles}, or none`),
    })
      .refine(({ tenant, role }) => (tenant === undefined) === (role === undefined), '--tenant and --role go together')
      .refine(({ name, role }) => name !== undefined || role !== undefined, 'nothing to change: give --name or --role'),
    async ({ email, name, tenant, role }, ctx) => {
      const { id } = await findUser(ctx, email)
      if (tenant !== undefined && role !== undefined) {
        const { id: tenantId } = await requireTenant(ctx.tenants, tenant)
        await changeRole(ctx, operatorOf(tenantId), id, role)
      }
      if (name !== undefined) await renamePerson(ctx, (await requireUser(ctx, email)).by, id, name)
      return { json: { email, name, tenant, role }, text: `Changed ${email}.` }
    },
  )

  const changes: Record<string, { change: PersonChange; description: string; text: string }> = {
    disable: { change: 'disable', description: 'keep a user out, and end their sessions', text: 'Disabled' },
    enable: { change: 'enable', description: 'let a user in again', text: 'Enabled' },
  }
  for (const [name, { change, description, text }] of Object.entries(changes)) {
    actOn(user.command(name).description(description), OneUser, async ({ email }, ctx) => {
      const { id, by } = await requireUser(ctx, email)
      await changePerson(ctx, by, id, change)
      return { json: { email, [`${change}d`]: true }, text: `${text} ${email}.` }
    })
  }

  actOn(
    user.command('reset-link').description('print a link by which a user chooses a new password, for an hour'),
    OneUser,
    async ({ email }, ctx, environment) => {
      const { id, by } = await requireUser(ctx, email)
      const { token } = await makeResetLink(ctx, by, id)
      const link = urlOf(environment, token)
      return { json: { email, link }, text: `For ${email}. ${linkText(link, 'an hour')}` }
    },
  )
}

const OneUser = z.object({ email: argument(Email) })

async function findUser({ users }: Context, email: string): Promise<User> {
  const user = await users.findByEmail(email)
  if (user === undefined) throw new Error(`There is no user ${email}.`)
  return user
}

/** Returns a user's id, and the operator as an actor in one of the user's tenants. */
async function requireUser(ctx: Context, email: string): Promise<{ id: string; by: Administrator }> {
  const user = await findUser(ctx, email)
  const [membership] = await ctx.users.memberships(user.id)
  if (membership === undefined)
    throw new Error(`${email} has no role in any tenant; give one with "ganglion user set".`)
  return { id: user.id, by: operatorOf(membership.tenantId) }
}

/** Returns the URL of a one-time link at the server that serves the data directory, or served it last. */
function urlOf({ publicUrl, host, port, dataDir }: Environment, token: string): string {
  const base = publicUrl ?? serverAddress(dataDir) ?? `http://${host}:${port}`
  return new Urls(base).setUp(token)
}

function linkText(link: string, time: string): string {
  return `This link opens the page on which they choose a password and are signed in. It works once, for ${time}, and is shown only now:\n${link}`
}

type Listed = User & { memberships: Membership[] }

function toJson({ email, name, createdAt, disabledAt, memberships }: Listed) {
  return {
    ...{ email, name, createdAt, disabledAt },
    roles: Object.fromEntries(memberships.map(({ tenantSlug, role }) => [tenantSlug, role])),
  }
}

function userTable(users: readonly Listed[]): string {
  if (users.length === 0) return 'There are no users.'
  return table(
    ['E-MAIL', 'STATE', 'ROLES', 'NAME'],
    users.map(({ email, disabledAt, memberships, name }) => [
      email,
      disabledAt === null ? 'enabled' : 'disabled',
      memberships.map(({ tenantSlug, role }) => `${tenantSlug}:${role}`).join(',') || '-',
      name,
    ]),
  )
}
