import { onTestFinished } from 'vitest'
import { type OpenContext, openContext } from '../../src/app/open-context.ts'
import { hashPassword } from '../../src/people/password.ts'
import { openSession, type Session } from '../../src/people/person-session.ts'
import type { User } from '../../src/state/accounts/users.ts'
import { newState } from '../support/new-database.ts'
import { signIn } from '../support/person.ts'
import { tempDir } from '../support/temp.ts'
import { threads } from '../support/threads.ts'

export const client = { address: '192.0.2.1', agent: 'Mozilla/5.0' }
export const password = 'kolibri tanzt leise'

export type People = {
  ctx: OpenContext
  /** Moves the clock. */
  wait(ms: number): void
  /** Opens the session of somebody who is made for it. */
  session(role: 'reader' | 'curator' | 'admin', email?: string, tenant?: string): Promise<Session & { token: string }>
  /** Makes a person of the tenant `acme` with {@link password}. */
  person(email: string, role?: 'reader' | 'curator' | 'admin'): Promise<User>
  /** Returns the audit log of `acme`, oldest first. */
  audit(): Promise<string[]>
}

/** A data directory with the tenant `acme`, and a clock that stands still. */
export async function people(): Promise<People> {
  let now = Date.parse('2026-03-01T10:00:00.000Z')
  const ctx = await openContext({ dataDir: tempDir(), ...(await newState()), threads, now: () => new Date(now) })
  onTestFinished(() => ctx.close())
  const acme = await ctx.tenants.ensure('acme', ctx.now())
  return {
    ctx,
    wait(ms) {
      now += ms
    },
    async session(role, email = `${role}@example.com`, tenant = 'acme') {
      const { token } = await signIn(ctx, tenant, role, { email })
      const open = await openSession(ctx, token)
      if (open === undefined) throw new Error('no session')
      return { ...open.session, token }
    },
    async person(email, role = 'curator') {
      const passwordHash = await hashPassword(password)
      const user = await ctx.users.create({ email, name: 'Ada', passwordHash }, ctx.now())
      if (user === undefined) throw new Error('there is such a user')
      await ctx.users.setRole(user.id, acme.id, role)
      return user
    },
    async audit() {
      const entries = await ctx.audit.list(acme.id, { limit: 100 })
      return entries.reverse().map(({ action, subject, detail }) => [action, subject, detail].join(' ').trim())
    },
  }
}
