import type { Delivery, Forge, ForgeKind } from './forge-adapter.ts'
import type { ForgeHttpTiming } from './forge-http.ts'
import { isGiteaDelivery, openGitea } from './gitea/gitea.ts'
import { isGithubDelivery, openGithub } from './github/github.ts'
import { isGitlabDelivery, openGitlab } from './gitlab/gitlab.ts'

/** Credential of a forge: a token, or an App's id and its private key as PEM. */
export type ForgeCredential = { token: string } | { appId: string; privateKey: string }

export type ForgeOptions = ForgeHttpTiming & {
  kind: ForgeKind
  /** URL of the repository's web page, without `.git`. */
  url: string
  /** URL of the API, if it is not the usual one of that forge. */
  apiUrl?: string | undefined
  credential: ForgeCredential
}

type Open = (options: Omit<ForgeOptions, 'kind'>) => Forge
const adapters: Record<ForgeKind, Open> = {
  github: openGithub,
  gitea: (options) => openGitea('gitea', options),
  forgejo: (options) => openGitea('forgejo', options),
  gitlab: openGitlab,
}

const checks: Record<ForgeKind, (secret: string, delivery: Delivery) => boolean> = {
  github: isGithubDelivery,
  gitea: isGiteaDelivery,
  forgejo: isGiteaDelivery,
  gitlab: isGitlabDelivery,
}

/**
 * Opens the adapter of a forge, without any request.
 * @throws {ForgeError} `refused` for a kind of credential that the forge does not have
 */
export function openForge({ kind, ...options }: ForgeOptions): Forge {
  return adapters[kind](options)
}

/** True if a webhook delivery is signed with a secret in the way of its forge. Compares in constant time. */
export function isSigned(kind: ForgeKind, secret: string, delivery: Delivery): boolean {
  return checks[kind](secret, delivery)
}
