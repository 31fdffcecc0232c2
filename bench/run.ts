import { benchAnswers } from './answers/run.ts'
import { benchApprovals } from './approvals.ts'
import { benchFollowing } from './following.ts'
import { benchGitDoor } from './git-door.ts'
import { benchGitStart } from './git-start.ts'
import { benchHttp } from './http.ts'
import { benchLinks } from './links.ts'
import { benchOpening } from './opening.ts'
import { benchPending } from './pending.ts'
import { benchTyped } from './quality/typed.ts'
import { benchReview } from './review.ts'
import { benchSearch } from './search.ts'
import { benchSoak } from './soak.ts'
import { benchVectors } from './vectors.ts'

const benches = {
  approvals: benchApprovals,
  opening: benchOpening,
  links: benchLinks,
  search: benchSearch,
  following: benchFollowing,
  pending: benchPending,
  review: benchReview,
  http: benchHttp,
  'git-start': benchGitStart,
  'git-door': benchGitDoor,
  soak: benchSoak,
  answers: benchAnswers,
  typed: benchTyped,
  vectors: benchVectors,
}

const wanted = process.argv.slice(2).filter((word) => word in benches)
/** What a bench reads, where it reads any: `answers DIR…`, `typed DIR…`. */
const folders = process.argv.slice(2).filter((word) => !(word in benches))
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`\n## ${name}\n`)
  for (const line of await bench(folders)) console.log(line)
}
