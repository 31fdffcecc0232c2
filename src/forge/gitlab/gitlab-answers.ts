import { z } from 'zod'
import { Time } from '../adapter-helpers.ts'
import type { ForgeAccount } from '../forge-adapter.ts'

export const GitlabUser = z.object({ username: z.string(), name: z.string() })

export const GitlabProject = z.object({ visibility: z.string() })

export const MergeRequest = z.object({
  iid: z.number().int(),
  web_url: z.string(),
  /** `opened`, `closed`, `merged`, or `locked` while it is being merged. */
  state: z.string(),
  title: z.string(),
  description: z.string().nullish(),
  author: GitlabUser.nullish(),
  labels: z.array(z.union([z.string(), z.object({ name: z.string() }).transform(({ name }) => name)])).nullish(),
  draft: z.boolean().nullish(),
  updated_at: Time,
  source_branch: z.string(),
  target_branch: z.string(),
  /** Absent if the fork is gone. */
  source_project_id: z.number().int().nullish(),
  target_project_id: z.number().int(),
  /** Absent if the branch has no commit of its own. */
  sha: z.string().nullish(),
  merge_commit_sha: z.string().nullish(),
  squash_commit_sha: z.string().nullish(),
  /** Name since GitLab 14.7, which still sends the older one. */
  merge_user: GitlabUser.nullish(),
  merged_by: GitlabUser.nullish(),
})

export const Reviewers = z.object({ reviewers: z.array(z.object({ id: z.number().int() })).nullish() })

export const GitlabCommit = z.object({ id: z.string() })

export const Member = z.object({ id: z.number().int(), username: z.string(), access_level: z.number().int() })

export const GitlabNote = z.object({
  id: z.number().int(),
  body: z.string(),
  author: GitlabUser.nullish(),
  created_at: Time,
  /** True for notes that GitLab wrote itself, about a push or a label. */
  system: z.boolean(),
  /** True if only members of the project may read it. */
  internal: z.boolean().nullish(),
})

/** Returns an account. GitLab shows `ghost` for a deleted one. */
export function gitlabAccount(user: z.output<typeof GitlabUser> | null | undefined): ForgeAccount {
  const id = user?.username ?? 'ghost'
  return { id, name: user?.name || id }
}
