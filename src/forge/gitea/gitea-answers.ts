import { z } from 'zod'
import { Time } from '../answers.ts'
import type { Account } from '../forge.ts'

/** What is read of the answers of Gitea 1.23 and Forgejo 11. Their description requires nothing of an answer: what is needed is required here. */
export const User = z.object({ login: z.string(), full_name: z.string().nullish() })

const Branch = z.object({
  /** The branch's name. */
  label: z.string(),
  /** The branch's name while there is one, and then `refs/pull/7/head`. */
  ref: z.string(),
  sha: z.string(),
  repo_id: z.number().int(),
})

export const Pull = z.object({
  number: z.number().int(),
  html_url: z.string(),
  /** `open` or `closed`. */
  state: z.string(),
  title: z.string(),
  body: z.string().nullish(),
  user: User.nullish(),
  labels: z.array(z.object({ name: z.string() })).nullish(),
  draft: z.boolean().nullish(),
  updated_at: Time,
  merged: z.boolean().nullish(),
  merged_by: User.nullish(),
  merge_commit_sha: z.string().nullish(),
  head: Branch,
  base: Branch,
})

export const Permission = z.object({ permission: z.string() })

export const Comment = z.object({
  id: z.number().int(),
  html_url: z.string(),
  /** Empty where the comment is on an issue. */
  pull_request_url: z.string().nullish(),
  body: z.string(),
  user: User.nullish(),
  created_at: Time,
})

export const Review = z.object({
  id: z.number().int(),
  html_url: z.string(),
  body: z.string().nullish(),
  /** `PENDING` while it is a draft of its author's. */
  state: z.string(),
  user: User.nullish(),
  submitted_at: Time,
  comments_count: z.number().int().nullish(),
})

export const ReviewComment = z.object({
  id: z.number().int(),
  html_url: z.string(),
  body: z.string(),
  user: User.nullish(),
  created_at: Time,
})

export const Label = z.object({ id: z.number().int(), name: z.string() })

/** Gitea shows the account `Ghost` for one that is gone. */
export function accountOf(user: z.output<typeof User> | null | undefined): Account {
  const login = user?.login ?? 'Ghost'
  return { id: login, name: user?.full_name || login }
}
