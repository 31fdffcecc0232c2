import { openForge } from '../../../src/forge/open-forge.ts'
import { type ForgeHarness, timeoutMs } from '../conformance.ts'
import type { DescribedForge } from './described-forge.ts'

/** Returns actions and views of people on a forge that answers by its description. */
export function harnessOf(server: DescribedForge): ForgeHarness {
  const { kind, url, token, git, people } = server
  git.commit('main', { 'kb.yaml': 'slug: handbook\n' })
  return {
    forge: openForge({ kind, url, credential: token, writePauseMs: 0, timeoutMs }),
    branch: async (name) => git.commit(name, { [`${name}.md`]: name }),
    openPull: (branch, title, base) => server.openPull('ada', branch, title, base),
    close: (number) => server.close('ada', number),
    reopen: (number) => server.reopen('ada', number),
    merge: (number) => server.merge('ada', number),
    comment: (number, text) => server.comment('ada', number, text),
    review: (number, text) => server.review('ada', number, text),
    labels: server.labels,
    reviewers: async (number) => people.find(number).reviewers ?? [],
    reports: async (head) => {
      const findings = people.remarks.reduce((count, { lines }) => count + lines.length, 0)
      return people.statuses
        .filter(({ sha }) => sha === head)
        .map(({ state, text }) => ({
          outcome: /^fail/.test(state) ? 'failed' : /^Waits/.test(text) ? 'waiting' : 'passed',
          findings,
        }))
    },
    show: server.show,
    failNext: (status, headers = {}, body) => server.fail(/pulls|issues|merge_requests/, { status, headers, body }),
    hangNext: (arrived) => server.fail(/pulls|merge_requests/, arrived),
    requests: () => server.requests.length,
    undescribed: () => server.wrong,
  }
}
