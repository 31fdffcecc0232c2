import { readFile } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import type { CredentialReference } from '../../state/forge-links.ts'
import type { ForgeCredential } from '../adapter-helpers.ts'

/** Matches the location of a secret: `env:NAME`, a variable of the server's environment, or `file:/path`. */
const reference = /^(?:env:[A-Z_][A-Z0-9_]*|file:.+)$/

const maxSecretBytes = 64 * 1024

/** Thrown if a secret is not at its location. The message names the location, never its content. */
class SecretMissing extends Error {
  constructor(where: string, options?: ErrorOptions) {
    super(`There is no secret at ${where}`, options)
  }
}

export function isReference(text: string): boolean {
  return reference.test(text) && (!text.startsWith('file:') || isAbsolute(text.slice('file:'.length)))
}

export async function readSecret(where: string, env: NodeJS.ProcessEnv): Promise<string> {
  const name = where.slice(where.indexOf(':') + 1)
  if (where.startsWith('env:')) {
    const value = env[name]
    if (value === undefined || value.trim() === '') throw new SecretMissing(where)
    return value.trim()
  }
  const bytes = await readFile(name).catch((cause: unknown) => {
    throw new SecretMissing(where, { cause })
  })
  const text = bytes.subarray(0, maxSecretBytes).toString().trim()
  if (text === '') throw new SecretMissing(where)
  return text
}

export async function readCredential(
  credential: CredentialReference,
  env: NodeJS.ProcessEnv,
): Promise<ForgeCredential> {
  if ('token' in credential) return { token: await readSecret(credential.token, env) }
  return { appId: credential.appId, privateKey: await readSecret(credential.privateKey, env) }
}
