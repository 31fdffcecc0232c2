import { GanglionError, ValidationError } from '../../contract/errors.ts'
import { RemoteError } from '../../git/transport/remote.ts'
import type { Acting } from '../../kb/access/audit.ts'
import type { Context } from '../../kb/context.ts'
import { ForgeError } from '../forge-error.ts'
import { ForgeBridge } from './forge-bridge.ts'
import { linkForge } from './manage-links.ts'
import { type OfferedCredential, offeredRepository } from './offered-credentials.ts'
import { SecretMissing } from './secret-reference.ts'

/** What an administrator chooses from what the operator offers. `credential` is a name. */
export type OfferedLinkRequest = { kb: string; url: string; credential: string; maxOpen?: number | undefined }

export type OfferedCredentialSummary = Pick<OfferedCredential, 'name' | 'repositories'>

export async function listOfferedCredentials(
  { tenants }: Pick<Context, 'tenants'>,
  { tenantId }: Pick<Acting, 'tenantId'>,
  offered: readonly OfferedCredential[],
): Promise<OfferedCredential[]> {
  const tenant = await tenants.get(tenantId)
  return offered.filter(({ tenant: slug }) => slug === tenant?.slug)
}

/**
 * Links a knowledge base to a repository with a credential that the operator offers for it. Nothing is sent to any other address.
 * @throws {ValidationError} with what is wrong, by field
 */
export async function linkAsOffered(
  ctx: Context,
  by: Acting,
  { offered, env }: { offered: readonly OfferedCredential[]; env: NodeJS.ProcessEnv },
  { kb, url: typed, credential: name, maxOpen }: OfferedLinkRequest,
): Promise<{ isPublic: boolean }> {
  const chosen = (await listOfferedCredentials(ctx, by, offered)).find((each) => each.name === name)
  if (chosen === undefined) throw new ValidationError({ credential: ['is not offered'] })
  const url = offeredRepository(chosen, typed.trim())
  if (url === undefined) throw new ValidationError({ url: [`must be ${addressesOf(chosen)}`] })
  const { credential, kind, apiUrl, webhookSecret } = chosen
  const bridge = new ForgeBridge(ctx, { env, onError: () => {} })
  try {
    return await linkForge(ctx, by, bridge, { kb, url, kind, apiUrl, credential, webhookSecret, maxOpen })
  } catch (error) {
    throw fieldsOf(error)
  } finally {
    bridge.close()
  }
}

function addressesOf({ repositories }: OfferedCredential): string {
  return repositories.endsWith('/') ? `the address of a repository below ${repositories}` : repositories
}

/** What went wrong, beside the field that can mend it. Where a secret should be is for the operator to know. */
function fieldsOf(error: unknown): unknown {
  if (error instanceof SecretMissing) {
    return new ValidationError({ credential: ['has no secret on the server: ask its operator'] })
  }
  if (error instanceof GanglionError && error.code === 'not_found') return new ValidationError({ kb: ['is gone'] })
  if (!(error instanceof ForgeError || error instanceof RemoteError)) return error
  return new ValidationError({ [error.code === 'refused' ? 'credential' : 'url']: [error.message] })
}
