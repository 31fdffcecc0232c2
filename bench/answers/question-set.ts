import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { z } from 'zod'

/** A question that the manual answers. */
const Answerable = z.strictObject({
  ask: z.string(),
  /** Texts that a right answer contains, each or one of several; markup, case and white space do not count. */
  says: z.array(z.union([z.string(), z.array(z.string()).min(1)])).min(1),
  /** Pages, by path in the manual, of which a right answer cites at least one. */
  pages: z.array(z.string()).min(1),
})

/** A question that it does not answer, and why not. */
const Unanswerable = z.strictObject({ ask: z.string(), why: z.string() })

/** A question that leans on one before it. */
const FollowUp = z.strictObject({ after: z.string(), ...Answerable.shape })

const QuestionSet = z.strictObject({
  /** Rules and constants may be tuned on `development` alone. */
  use: z.enum(['development', 'test']),
  manual: z.string(),
  repository: z.url(),
  /** The commit that the questions were written with. */
  commit: z.string(),
  /** Folder of the manual in its repository. */
  folder: z.string(),
  licence: z.string(),
  answerable: z.array(Answerable),
  unanswerable: z.array(Unanswerable),
  followUps: z.array(FollowUp).default([]),
})

export type Answerable = z.infer<typeof Answerable>
export type QuestionSet = z.infer<typeof QuestionSet>

const sets = fileURLToPath(new URL('sets', import.meta.url))

export function questionSets(): QuestionSet[] {
  return readdirSync(sets)
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => QuestionSet.parse(parse(readFileSync(join(sets, name), 'utf8'))))
}

/**
 * The questions on the manual in a folder, and the folder that its pages are in: the one given, or the manual's own folder in a checkout.
 * The set is known by its pages.
 * @throws {Error} where no set fits.
 */
export function setFor(given: string, all: readonly QuestionSet[]): { set: QuestionSet; folder: string } {
  for (const set of all) {
    for (const folder of [resolve(given), resolve(given, set.folder)]) {
      const pages = set.answerable.flatMap((question) => question.pages)
      if (pages.every((page) => existsSync(join(folder, page)))) return { set, folder }
    }
  }
  throw new Error(`${given} has not the pages of any of: ${all.map(({ repository }) => repository).join(', ')}`)
}
