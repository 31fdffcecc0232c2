import { oneLine } from '../../../knowledge/text/text.ts'
import {
  compareProjections,
  type RowSample,
  type TableDifference,
} from '../../../store/projection/compare-projections.ts'

/** Where the rows of a projection are not those of one that was built anew, for people. Both are files. */
export function projectionDifferences(stored: string, rebuilt: string): string[] {
  return compareProjections(stored, rebuilt).map(describe)
}

function describe({ table, onlyLeft, onlyRight }: TableDifference): string {
  const side = ({ count, rows }: RowSample, whose: string) =>
    `${count} rows only in ${whose}${count === 0 ? '' : ` (${oneLine(rows.join(' '), 1000)})`}`
  return `${table} is not what git says: ${side(onlyLeft, 'the index')}, ${side(onlyRight, 'a rebuild')}`
}
