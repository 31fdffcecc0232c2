import { readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { v7 as uuidv7 } from 'uuid'
import { parseDocument } from 'yaml'
import type { z } from 'zod'
import { GanglionError, ValidationError } from '../contract/errors.ts'
import { Repository } from '../git/repository.ts'
import type { Actor } from '../rules/candidates/candidate.ts'
import { derivePrefix, SeqPrefix, Slug } from '../rules/neurons/seq-id.ts'
import { SlugTaken } from '../state/lifecycle.ts'
import { orCommitted } from '../state/run-idempotent.ts'
import { checkerPackage } from './checker-package.ts'
import type { Context } from './context.ts'
import type { KbIdentity } from './kb-identity.ts'
import { KnowledgeBase } from './knowledge-base.ts'
import { commitToMain } from './writing/commits.ts'

export type NewKnowledgeBase = {
  tenant: string
  slug: string
  title?: string | undefined
  prefix?: string | undefined
  language?: string | undefined
}

export type CreatedKnowledgeBase = { id: string; slug: string; prefix: string; tenant: string; gitDir: string }

/** Folder with the content of a new knowledge base. It is next to both `src/` and `dist/`. */
export const templateDir = fileURLToPath(new URL('../../kb-template/', import.meta.url))

/** Actor of commands on the server's own machine. */
export const operator: Actor = { id: 'cli', name: 'Operator' }

/** Creates a knowledge base with a repository from the template. @throws errors of {@link enterKnowledgeBase} */
export function createKnowledgeBase(ctx: Context, input: NewKnowledgeBase): Promise<CreatedKnowledgeBase> {
  const { tenant, slug, prefix = derivePrefix(slug), title = slug, language = 'en' } = input
  const make = (identity: KbIdentity, gitDir: string) => makeRepository(ctx, identity, gitDir, { title, language })
  return enterKnowledgeBase(ctx, { tenant, id: uuidv7(), slug, prefix }, make)
}

/**
 * Creates the repository of a knowledge base, then its entry, so that nobody sees an incomplete one.
 * @param make creates the repository, which is removed again if there will be no entry
 * @throws {ValidationError} for an invalid slug or prefix, {GanglionError} `already_exists`, `tenant_disabled`, `quota_exceeded`
 */
export async function enterKnowledgeBase(
  ctx: Context,
  named: Omit<CreatedKnowledgeBase, 'gitDir'>,
  make: (identity: KbIdentity, gitDir: string) => Promise<void>,
): Promise<CreatedKnowledgeBase> {
  const slug = parse('slug', Slug, named.slug)
  const prefix = parse('prefix', SeqPrefix, named.prefix)
  const tenant = await ctx.tenants.ensure(parse('tenant', Slug, named.tenant), ctx.now())
  if ((await ctx.knowledgeBases.find(tenant.id, slug, { disabled: true })) !== undefined) throw alreadyExists(slug)
  const identity = { id: named.id, tenantId: tenant.id, slug, prefix }
  const gitDir = ctx.directory.repository(identity.id)
  const find = async () => (await ctx.knowledgeBases.find(tenant.id, identity.id, { disabled: true })) && identity
  const create = async () => {
    await make(identity, gitDir)
    await ctx.knowledgeBases.create(identity, ctx.now())
    return identity
  }
  const undo = async () => {
    await rm(gitDir, { recursive: true, force: true })
    await ctx.cluster?.repositories.remove(identity.id)
  }
  await orCommitted(ctx, find, create, undo).catch((error: unknown) => {
    throw error instanceof SlugTaken ? alreadyExists(slug) : error
  })
  return { id: identity.id, slug, prefix, tenant: tenant.slug, gitDir }
}

async function makeRepository(
  ctx: Context,
  identity: KbIdentity,
  gitDir: string,
  settings: { title: string; language: string },
): Promise<void> {
  const repository = await Repository.init(gitDir)
  repository.close()
  const files = await templateFiles()
  if (ctx.urls.base !== '') await nameChecker(files, ctx.urls.base)
  const document = parseDocument(files.get('kb.yaml') ?? '')
  const { id, slug, prefix } = identity
  for (const [key, value] of Object.entries({ id, slug, prefix, ...settings })) document.set(key, value)
  files.set('kb.yaml', document.toString({ lineWidth: 0 }))
  const { cluster, directory, parser } = ctx
  await using kb = new KnowledgeBase(identity, { gitDir, indexDir: directory.index(id), parser, cluster })
  const subject = `Begin the knowledge base ${slug}`
  const commit = { files, subject, trailers: [['Knowledge-Base', id] as const], decided: { operator }, at: ctx.now() }
  await kb.write((staging) => commitToMain(kb, staging, commit))
}

/** Returns the template's files without its Neurons and their tests, which only the demo gets. */
async function templateFiles(): Promise<Map<string, string>> {
  const entries = await readdir(templateDir, { recursive: true, withFileTypes: true })
  const files = new Map<string, string>()
  for (const entry of entries.filter((candidate) => candidate.isFile())) {
    const absolute = join(entry.parentPath, entry.name)
    const path = absolute.slice(templateDir.length).replaceAll('\\', '/')
    if (!/^(?:neurons|tests)\//.test(path)) files.set(path, await readFile(absolute, 'utf8'))
  }
  return files
}

/** Inserts the URL and hash of this server's checker into the files for CI. */
async function nameChecker(files: Map<string, string>, publicUrl: string): Promise<void> {
  const { sha256 } = await checkerPackage()
  for (const [path, text] of files) {
    files.set(path, text.replace('https://ganglion.example', () => publicUrl).replace(/0{64}/, sha256))
  }
}

function parse<T>(field: string, schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value)
  if (result.success) return result.data
  throw new ValidationError({ [field]: result.error.issues.map(({ message }) => message) })
}

function alreadyExists(slug: string): GanglionError {
  return new GanglionError('already_exists', `The tenant has a knowledge base ${slug} already: choose another slug.`)
}
