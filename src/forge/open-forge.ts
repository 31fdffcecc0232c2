import type { AdapterOptions } from './adapter-helpers.ts'
import type { Delivery, Forge, ForgeKind } from './forge-adapter.ts'
import { isGiteaDelivery, openGitea } from './gitea.ts'
import { isGithubDelivery, openGithub } from './github.ts'
import { isGitlabDelivery, openGitlab } from './gitlab.ts'

type Open = (options: AdapterOptions) => Forge

export type ForgeOptions = AdapterOptions & { kind: ForgeKind }

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
