import { readFile } from 'node:fs/promises'
import { z } from 'zod'
import type { CredentialReference } from '../../state/forge/forge-links.ts'
import { type ForgeKind, forgeKinds } from '../forge-adapter.ts'
import { isReference } from './secret-reference.ts'

/**
 * A credential that the operator lets the administrators of one tenant use, for some repositories only. They know it by its name: where
 * its secrets are, and to which server they are sent, only the operator decides.
 */
export type OfferedCredential = {
  name: string
  tenant: string
  /** The address of one repository, or, with a slash at the end, of all below it. */
  repositories: string
  kind: ForgeKind | undefined
  apiUrl: string | undefined
  credential: CredentialReference
  webhookSecret: string | undefined
}

const Url = z.url({ protocol: /^https?$/, error: 'must be an http or https URL' })
const Reference = z.string().refine(isReference, { error: 'must be env:NAME or file:/path' })
const Offered = z
  .strictObject({
    name: z.string().trim().min(1).max(100),
    tenant: z.string().min(1),
    repositories: Url.refine((url) => new URL(url).href === url, { error: 'must be a plain address' }),
    kind: z.enum(forgeKinds).optional(),
    apiUrl: Url.optional(),
    token: Reference.optional(),
    app: z.string().min(1).optional(),
    key: Reference.optional(),
    webhookSecret: Reference.optional(),
  })
  .transform(({ token, app, key, kind, apiUrl, webhookSecret, ...rest }, context): OfferedCredential => {
    const offered = { ...rest, kind, apiUrl, webhookSecret }
    if (token !== undefined && app === undefined && key === undefined) return { ...offered, credential: { token } }
    if (token === undefined && app !== undefined && key !== undefined) {
      return { ...offered, credential: { appId: app, privateKey: key } }
    }
    context.addIssue('must have either a token, or an app and its key')
    return z.NEVER
  })

/** Reads the file that lists them: a JSON array. @throws {Error} with what is wrong with it */
export async function readOfferedCredentials(path: string): Promise<OfferedCredential[]> {
  const { data, error } = z.array(Offered).safeParse(JSON.parse(await readFile(path, 'utf8')))
  if (error !== undefined) throw new Error(z.prettifyError(error))
  const names = data.map(({ tenant, name }) => `${tenant} ${name}`)
  const twice = names.find((name, at) => names.indexOf(name) !== at)
  if (twice !== undefined) throw new Error(`${twice} is there twice`)
  return data
}

/** Names of groups and repositories, as every forge allows them: nothing that a server could read in another way. */
const plainPath = /^(?:[A-Za-z0-9_-][A-Za-z0-9_.-]*\/)*[A-Za-z0-9_-][A-Za-z0-9_.-]*$/

/** The address of a repository as it is linked, if the credential is offered for it. */
export function offeredRepository({ repositories }: Pick<OfferedCredential, 'repositories'>, typed: string) {
  if (!URL.canParse(typed)) return undefined
  const { origin, pathname, href } = new URL(typed)
  const url = `${origin}${pathname.replace(/\/+$/, '').replace(/\.git$/, '')}`
  const isPlain = href === `${origin}${pathname}`
  if (!isPlain || !url.startsWith(repositories)) return undefined
  const isInside = repositories.endsWith('/') ? plainPath.test(url.slice(repositories.length)) : url === repositories
  return isInside ? url : undefined
}
