import type { Delivery, Forge, ForgeKind } from './forge.ts'
import type { ForgeHttpTiming } from './forge-http.ts'
import { isGithubDelivery, openGithub } from './github/github.ts'

/** What a forge is spoken to with: a token, or an App's id and its private key as PEM. */
export type ForgeCredential = { token: string } | { appId: string; privateKey: string }

export type ForgeOptions = ForgeHttpTiming & {
  kind: ForgeKind
  /** Of the repository's page, without `.git`. */
  url: string
  /** Of the API, where it is not where that forge has it. */
  apiUrl?: string | undefined
  credential: ForgeCredential
}

/** Opens the adapter of a forge. Nothing is sent. */
export function openForge({ kind, ...options }: ForgeOptions): Forge {
  const open = { github: openGithub }[kind]
  return open(options)
}

/** Whether a webhook's delivery is signed with a secret, as that forge signs. Takes the same time whatever it holds. */
export function isSigned(kind: ForgeKind, secret: string, delivery: Delivery): boolean {
  const check = { github: isGithubDelivery }[kind]
  return check(secret, delivery)
}
