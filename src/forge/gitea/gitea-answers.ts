import { z } from 'zod'
import { Time } from '../adapter-helpers.ts'
import type { ForgeAccount } from '../forge-adapter.ts'

/**
 * Fields that are read from answers of Gitea 1.23 and Forgejo 11. Their API description requires no fields; the needed ones are required
 * here.
 */
export const GiteaUser = z.object({ login: z.string(), full_name: z.string().nullish() })

export const GiteaRepository = z.object({ private: z.boolean() })

const Branch = z.object({
  label: z.string(),
  /** Name of the branch while it exists, and then `refs/pull/7/head`. */
  ref: z.string(),
  sha: z.string(),
  repo_id: z.number().int(),
})

export const GiteaPull = z.object({
  number: z.number().int(),
  html_url: z.string(),
  /** `open` or `closed`. */
  state: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  user: GiteaUser.nullish(),
  labels: z.array(z.object({ name: z.string() })).nullish(),
  draft: z.boolean().nullish(),
  updated_at: Time,
  merged: z.boolean().nullish(),
  merged_by: GiteaUser.nullish(),
  merge_commit_sha: z.string().nullish(),
  head: Branch,
  base: Branch,
})

export const GiteaCommit = z.object({ sha: z.string() })

export const GiteaPermission = z.object({ permission: z.string() })

/** Comment on a pull request, or on a line of it. */
export const Comment = z.object({
  id: z.number().int(),
  html_url: z.string(),
  /** Empty for a comment on an issue. */
  pull_request_url: z.string().nullish(),
  body: z.string(),
  user: GiteaUser.nullish(),
  created_at: Time,
})

export const GiteaReview = z.object({
  id: z.number().int(),
  html_url: z.string(),
  body: z.string().nullish(),
  /** `PENDING` while it is a draft that only its author sees. */
  state: z.string(),
  user: GiteaUser.nullish(),
  submitted_at: Time,
  comments_count: z.number().int().nullish(),
})

export const GiteaLabel = z.object({ id: z.number().int(), name: z.string() })

/** Returns an account. Gitea shows `Ghost` for a deleted one. */
export function giteaAccount(user: z.output<typeof GiteaUser> | null | undefined): ForgeAccount {
  const login = user?.login ?? 'Ghost'
  return { id: login, name: user?.full_name || login }
}
