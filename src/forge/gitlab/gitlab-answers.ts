import { z } from 'zod'
import { Time } from '../answers.ts'
import type { Account } from '../forge.ts'

/** What is read of GitLab's answers, version 4 of its API. */
export const User = z.object({ username: z.string(), name: z.string() })

export const MergeRequest = z.object({
  iid: z.number().int(),
  web_url: z.string(),
  /** `opened`, `closed`, `merged`, or `locked` while it is being merged. */
  state: z.string(),
  title: z.string(),
  description: z.string().nullish(),
  author: User.nullish(),
  labels: z.array(z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])).nullish(),
  draft: z.boolean().nullish(),
  updated_at: Time,
  source_branch: z.string(),
  target_branch: z.string(),
  /** None where the fork is gone. */
  source_project_id: z.number().int().nullish(),
  target_project_id: z.number().int(),
  /** None where the branch has no commit of its own. */
  sha: z.string().nullish(),
  merge_commit_sha: z.string().nullish(),
  squash_commit_sha: z.string().nullish(),
  /** The name since GitLab 14.7; that before is still given. */
  merge_user: User.nullish(),
  merged_by: User.nullish(),
})

export const Member = z.object({ username: z.string(), access_level: z.number().int() })

export const Note = z.object({
  id: z.number().int(),
  body: z.string(),
  author: User.nullish(),
  created_at: Time,
  /** GitLab wrote it itself, of a push or a label. */
  system: z.boolean(),
  /** Only members of the project may read it. */
  internal: z.boolean().nullish(),
})

/** GitLab shows the account `ghost` for one that is gone. */
export function accountOf(user: z.output<typeof User> | null | undefined): Account {
  const id = user?.username ?? 'ghost'
  return { id, name: user?.name || id }
}
