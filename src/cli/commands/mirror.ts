import { mkdtempDisposable } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import type { Command } from 'commander'
import { z } from 'zod'
import { operatorsGit, withoutCredentials } from '../../git/native/operators-git.ts'
import { readRef } from '../../git/refs/refs.ts'
import { audienceClone } from '../../kb/clone/audience-clone.ts'
import { mainCommit } from '../../kb/clone/shown-history.ts'
import { servedAudiences } from '../../rules/access/audience.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import { actOn, tenantIdOf } from '../act-on.ts'
import { argument, option } from '../options.ts'

const Mirrored = z.object({
  remote: argument(z.string(), 'address of the repository, for git; its main must be a mirror already, or missing'),
  kb: option(z.string(), '<slug>', 'the knowledge base, by slug or id'),
  tenant: option(z.string().optional(), '<slug>', 'tenant of the knowledge base'),
  audience: option(z.enum(servedAudiences).default('public'), '<name>', servedAudiences.join(', ')),
})
const branch = 'refs/heads/main'

export function addMirrorCommand(program: Command): void {
  actOn(
    program
      .command('mirror')
      .description('push what an audience sees of a knowledge base to a repository elsewhere, as its main')
      .addHelpText(
        'after',
        '\nSafe to run next to a running server. It pushes with your git, its keys and its helpers.\nThe mirror is not a copy of the knowledge base: it has no queue, no kb.yaml and no hidden page, and cannot be adopted.\nFor a copy: git clone --mirror, with a key of a curator.',
      ),
    Mirrored,
    async ({ remote, audience, kb: name, tenant }, ctx) => {
      const served = await ctx.knowledgeBases.list(await tenantIdOf(ctx.tenants, tenant))
      const [kb, other] = served.filter(({ id, slug }) => id === name || slug === name)
      if (kb === undefined) throw new Error(`There is no knowledge base ${name}, or it is disabled.`)
      if (other) throw new Error(`Several tenants have a knowledge base ${name}: say whose with --tenant.`)
      const clone = async () => audienceClone(ctx, await ctx.kb(kb.tenantId, kb.id), audience)
      const { commit, change } = await inUse(async () => push(await clone(), remote))
      const text = `${withoutCredentials(remote)} ${changes[change]} what the audience ${audience} sees of ${kb.slug}: ${commit ?? 'nothing'}`
      return { json: { kb: kb.slug, audience, remote: withoutCredentials(remote), commit, change }, text }
    },
  )
}

const changes = {
  none: 'already has',
  forwarded: 'now has',
  replaced: 'has lost what is hidden by now, and has',
} as const

/** Pushes to the mirror. Replaces its history if a page that it shows is now hidden, but never what others pushed there. */
async function push(gitDir: string, remote: string): Promise<{ commit: string | null; change: keyof typeof changes }> {
  const commit = (await readRef(gitDir, branch)) ?? null
  const refs = await operatorsGit(gitDir, ['ls-remote', '--', remote, branch])
  const [, theirs = ''] = /^(\w+)\trefs\/heads\/main$/m.exec(refs) ?? []
  if (theirs === (commit ?? '')) return { commit, change: 'none' }
  const ancestry = ['merge-base', '--is-ancestor', theirs, commit ?? '']
  const isForward = theirs === '' || (await operatorsGit(gitDir, [...ancestry]).catch(() => undefined)) !== undefined
  if (!isForward) await requireMirror(remote)
  const lease = `--force-with-lease=${branch}:${theirs}`
  await operatorsGit(gitDir, ['push', '--quiet', '--no-verify', lease, '--', remote, `${commit ?? ''}:${branch}`])
  return { commit, change: isForward ? 'forwarded' : 'replaced' }
}

async function requireMirror(remote: string): Promise<void> {
  await using temporary = await mkdtempDisposable(`${tmpdir()}/ganglion-mirror-`)
  const { path: beside } = temporary
  await operatorsGit(beside, ['init', '--quiet', '--bare'])
  await operatorsGit(beside, ['fetch', '--quiet', '--depth=1', '--', remote, branch])
  const mark = await operatorsGit(beside, ['log', '-1', `--format=%(trailers:key=${mainCommit})`, 'FETCH_HEAD'])
  if (!mark.trim())
    throw new Error(
      `The main of ${withoutCredentials(remote)} was not pushed by this command, and would be lost: name another repository.`,
    )
}
