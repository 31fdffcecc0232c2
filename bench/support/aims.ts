type Bound = { atMost: number } | { atLeast: number }
/**
 * Unit of an aim. Other load on the machine changes it less than a time: a ratio to the named floor or peer, measured in the same run, CPU
 * time that the kernel counts, or memory. A query is rejected by its own CPU time.
 */
type Unit = `× ${string}` | 'µs of CPU' | 'ms of CPU' | 'MB' | 'rejected queries'
type Aim = { what: string; measured: number; bound: Bound; unit: Unit }

const aims: Aim[] = []

/** Notes what was measured, and what it should be, for the table at the end of a run. Gives the aim as text. */
export function noteAim(what: string, measured: number, bound: Bound, unit: Unit): string {
  aims.push({ what, measured, bound, unit })
  return textOf(bound, unit)
}

/** All aims of this run. */
export function aimsTable(): string[] {
  const rows = aims.map(({ what, measured, bound, unit }) => {
    const value = `${Number(measured.toPrecision(3))} ${unit}`
    return `| ${what} | ${value} | ${textOf(bound, unit)} | ${isMet(measured, bound) ? 'met' : '**missed**'} |`
  })
  const met = aims.filter(({ measured, bound }) => isMet(measured, bound)).length
  return ['| | measured | aim | |', '|---|---|---|---|', ...rows, '', `${met} of ${aims.length} aims are met.`]
}

function isMet(measured: number, bound: Bound): boolean {
  return 'atMost' in bound ? measured <= bound.atMost : measured >= bound.atLeast
}

function textOf(bound: Bound, unit: Unit): string {
  return 'atMost' in bound ? `≤ ${bound.atMost} ${unit}` : `≥ ${bound.atLeast} ${unit}`
}
