import { ForgeError } from './forge-error.ts'

/** Returns the token of a credential. @param forge its name, for people @throws {ForgeError} `refused` for an App, which only GitHub has */
export function tokenOf(credential: { token: string } | { appId: string }, forge: string): string {
  if ('token' in credential) return credential.token
  throw new ForgeError('refused', `${forge} has no Apps: it takes a token`)
}
