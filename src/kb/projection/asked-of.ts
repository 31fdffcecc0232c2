import type { Zone } from '../../contract/vocabulary.ts'
import type { OwnerRule } from '../../rules/deciding.ts'
import { tagKey } from '../../rules/neurons/tag.ts'
import { pathKey } from '../../rules/paths/portable-path.ts'
import { query, type SqlQuery } from './sql-query.ts'

/** Curator, and what a knowledge base asks of them. */
export type AskedCurator = {
  /** Ids under which the curator acts. */
  actors: readonly string[]
  /** E-mail, or name of a key, to which candidates are assigned. */
  names: readonly string[]
  /** Number of approvals of the zones that need more than one. */
  votes: readonly { zone: Zone; count: number }[]
  /** Rules of `owners` that name the curator. `actors`: ids of everybody whom a rule names. */
  owned: readonly (Pick<OwnerRule, 'paths' | 'tags'> & { actors: readonly string[] })[]
  mayApproveOwn: boolean
  /** Candidates for whose present text an earlier vote of the curator does not count. */
  fallen: readonly string[]
}

/**
 * Returns the condition for pending candidates that wait for one curator: assigned to them, sent by them with changes asked for, or lacking
 * their approval as one of the owners or as one of several approvals. It compares recorded votes and the path that a new page asks for, so
 * that it costs a scan; the approval itself is exact.
 */
export function askedOf({ actors, names, votes, owned, mayApproveOwn, fallen }: AskedCurator): SqlQuery {
  const among = (values: readonly string[]) => query`IN (SELECT value FROM json_each(${JSON.stringify(values)}))`
  const holds = (column: SqlQuery, ids: readonly string[]) =>
    query`EXISTS (SELECT 1 FROM json_each(${column}) WHERE value ${among(ids)})`
  const approvals = [
    ...votes.map(
      ({ zone, count }) =>
        query`zone = ${zone} AND coalesce(json_array_length(voters), 0) < ${count} AND NOT ${holds(voters, actors)}`,
    ),
    ...owned.flatMap((rule) => {
      const places = [...rule.paths.map(isAtPath), ...rule.tags.map(hasTag)]
      return places.map((place) => query`${place} AND NOT ${holds(voters, rule.actors)}`)
    }),
    query`id ${among(fallen)}`,
  ]
  const isOwn = mayApproveOwn ? query`FALSE` : holds(query`authors`, actors)
  return query`(assignee ${among(names)} OR (asked IS NOT NULL AND sender ${among(actors)})
    OR (asked IS NULL AND NOT ${isOwn} AND (${approvals.reduce((some, one) => query`${some} OR (${one})`)})))`
}

const voters = query`voters`

function isAtPath(folder: string): SqlQuery {
  const bare = pathKey(folder.replace(/^neurons(?:\/|$)/i, '').replace(/\.md$|\/+$/, ''))
  if (bare === '') return query`TRUE`
  const isBelow = (key: SqlQuery) =>
    query`(${key} = ${`neurons/${bare}.md`} OR (${key} >= ${`neurons/${bare}/`} AND ${key} < ${`neurons/${bare}0`}))`
  return query`(${isBelow(query`candidates.path_key`)}
    OR EXISTS (SELECT 1 FROM files WHERE files.seq_id = target AND ${isBelow(query`files.path_key`)}))`
}

function hasTag(tag: string): SqlQuery {
  const key = tagKey(tag)
  const isBelow = query`(key = ${key} OR (key >= ${`${key}/`} AND key < ${`${key}0`}))`
  return query`(EXISTS (SELECT 1 FROM candidate_tags WHERE candidate_tags.id = candidates.id AND ${isBelow})
    OR EXISTS (SELECT 1 FROM tags WHERE tags.seq_id = target AND ${isBelow}))`
}
