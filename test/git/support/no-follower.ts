import type { Follower } from '../../../src/git/group-commit.ts'

/** A follower that keeps nothing, as where there is no projection. */
export const noFollower: Follower = {
  begin: async () => {},
  follow: async () => {},
  savepoint: () => {},
  rollbackToSavepoint: () => {},
  commit: () => {},
  rollback: () => {},
}
