import type { Command } from 'commander'
import { type LintReport, lintKb } from '../../operate/lint/lint-kb.ts'
import { counted } from '../../rules/text/numbers.ts'
import { inUse } from '../../system/concurrency/present-work.ts'
import { actOn } from '../act-on.ts'
import { flag } from '../options.ts'
import { Selection, select } from '../select-options.ts'
import { table } from '../table.ts'

const shown = 100

export function addLintCommand(program: Command): void {
  actOn(
    program
      .command('lint')
      .description('look for broken links, gaps, orphans and contradictions, and propose what is found to the curators')
      .addHelpText('after', '\nSafe to run next to a running server. Each finding is proposed once.'),
    Selection.extend({ dryRun: flag('only report what is found') }),
    async ({ dryRun: isDryRun = false, ...selection }, ctx) => {
      const kbs: LintReport[] = []
      for (const identity of await select(ctx, selection)) {
        kbs.push(await inUse(async () => lintKb(ctx, await ctx.kbs.open(identity), { isDryRun })))
      }
      return { json: { kbs }, text: kbs.map(describe).join('\n\n') || 'There are no knowledge bases.' }
    },
  )
}

/** Formats the 100 most important findings as rows, new ones first, and counts the others. */
function describe({ slug, findings }: LintReport): string {
  const count = (status: string) => findings.filter((finding) => finding.status === status).length
  const summary = `${slug}: ${counted(findings.length, 'finding')}; ${count('proposed')} proposed, ${count('proposed before')} proposed before, ${count('open')} open.`
  if (findings.length === 0) return summary
  const rows = findings
    .toSorted((a, b) => Number(a.status === 'proposed before') - Number(b.status === 'proposed before'))
    .slice(0, shown)
    .map(({ rule, title, impact, status }) => [rule, String(impact), status, title])
  const more = findings.length > shown ? [`and ${findings.length - shown} more`] : []
  return [summary, table(['RULE', 'NEURONS', 'STATUS', 'FINDING'], rows), ...more].join('\n')
}
