import { z } from 'zod'
import type { ForgeAccount } from '../forge-adapter.ts'

/** Fields that are read from GitHub's answers; see the description of the REST API, version 2022-11-28. */
const User = z.object({ login: z.string() })

export const GithubInstallation = z.object({ id: z.number().int() })
export const InstallationToken = z.object({ token: z.string().min(1), expires_at: z.string() })
/** App without a slug, which the API description permits. */
export const AppAnswer = z.object({ slug: z.string().optional(), name: z.string() }).nullable()
export const UserAnswer = z.object({ login: z.string(), name: z.string().nullish() })

/** `private` is also true of a repository with `visibility: internal`, which all members of an enterprise can read. */
export const GithubRepository = z.object({ private: z.boolean(), visibility: z.string().optional() })

export const GithubPull = z.object({
  number: z.number().int(),
  html_url: z.string(),
  /** `open` or `closed`. The API description declares plain text for lists. */
  state: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  user: User.nullable(),
  labels: z.array(z.object({ name: z.string() })),
  draft: z.boolean().optional(),
  updated_at: z.string(),
  merged_at: z.string().nullable(),
  merged_by: User.nullish(),
  merge_commit_sha: z.string().nullish(),
  /** `repo` is null if the fork is gone. */
  head: z.object({ ref: z.string(), sha: z.string(), repo: z.object({ full_name: z.string() }).nullable() }),
  base: z.object({ ref: z.string(), repo: z.object({ full_name: z.string() }) }),
})

export const GithubCommit = z.object({ sha: z.string() })

export const GithubPermission = z.object({ permission: z.string() })

const Said = z.object({
  id: z.number().int(),
  html_url: z.string(),
  body: z.string().optional(),
  user: User.nullable(),
  created_at: z.string(),
})
export type Said = z.output<typeof Said>

export const IssueComment = Said.extend({ issue_url: z.string() })

export const GithubReviewComment = Said.extend({ pull_request_url: z.string() })

/** `submitted_at` is absent while the review is a draft that only its author sees. */
export const GithubReview = Said.omit({ created_at: true }).extend({ submitted_at: z.string().optional() })

/** Returns an account. GitHub shows `ghost` for a deleted one. */
export function githubAccount(user: z.output<typeof User> | null | undefined): ForgeAccount {
  const login = user?.login ?? 'ghost'
  return { id: login, name: login }
}
