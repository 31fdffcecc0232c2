import { benchApprovals } from './approvals.ts'
import { benchFollowing } from './following.ts'
import { benchGitDoor } from './git-door.ts'
import { benchLinks } from './links.ts'
import { benchOpening } from './opening.ts'
import { benchPending } from './pending.ts'
import { benchReview } from './review.ts'
import { benchSearch } from './search.ts'
import { benchSoak } from './soak.ts'

const benches = {
  approvals: benchApprovals,
  opening: benchOpening,
  links: benchLinks,
  search: benchSearch,
  following: benchFollowing,
  pending: benchPending,
  review: benchReview,
  'git-door': benchGitDoor,
  soak: benchSoak,
}

const wanted = process.argv.slice(2)
for (const [name, bench] of Object.entries(benches)) {
  if (wanted.length > 0 && !wanted.includes(name)) continue
  console.log(`\n## ${name}\n`)
  for (const line of await bench()) console.log(line)
}
