import {
  type DeleteResult,
  type ExpressionBuilder,
  type Kysely,
  PostgresAdapter,
  type QueryExecutorProvider,
  type SelectQueryBuilder,
  type UpdateResult,
} from 'kysely'
import type { RowOf, Schema } from './schema.ts'

/** True if a database is PostgreSQL, for the few places where the two engines differ. */
export function isPostgres(db: QueryExecutorProvider): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}

/** Base of classes that read and write tables, on their own or within a transaction. */
export abstract class Store {
  protected readonly db: Kysely<Schema>

  constructor(db: Kysely<Schema>) {
    this.db = db
  }
}

type Values<Table extends keyof Schema> = Partial<RowOf<Table>>

/** Returns a query of the rows with these values. */
export function selectRows<Table extends keyof Schema>(db: Kysely<Schema>, table: Table, values: Values<Table>) {
  const query: unknown = untyped(db).selectFrom<string>(table).selectAll().where(conditions(values))
  return query as SelectQueryBuilder<Schema, Table, RowOf<Table>>
}

/** Returns a row with these values. */
export async function findRow<Table extends keyof Schema>(
  db: Kysely<Schema>,
  table: Table,
  values: Values<Table>,
): Promise<RowOf<Table> | undefined> {
  const [row] = await selectRows(db, table, values).limit(1).execute()
  return row
}

/** Returns the rows with these values. @param order columns by which they are sorted, ascending */
export async function findRows<Table extends keyof Schema>(
  db: Kysely<Schema>,
  table: Table,
  values: Values<Table>,
  ...order: (keyof RowOf<Table> & string)[]
): Promise<RowOf<Table>[]> {
  let query = untyped(db).selectFrom<string>(table).selectAll().where(conditions(values))
  for (const column of order) query = query.orderBy(column)
  return query.execute() as Promise<RowOf<Table>[]>
}

/** Changes the rows with these values. @returns their number */
export function updateRows<Table extends keyof Schema>(
  db: Kysely<Schema>,
  table: Table,
  values: Values<Table>,
  changes: { [Column in keyof RowOf<Table>]?: RowOf<Table>[Column] | undefined },
): Promise<number> {
  return changedRows(untyped(db).updateTable<string>(table).set(changes).where(conditions(values)))
}

/** Deletes the rows with these values. @returns their number */
export function deleteRows<Table extends keyof Schema>(
  db: Kysely<Schema>,
  table: Table,
  values: Values<Table>,
): Promise<number> {
  return changedRows(untyped(db).deleteFrom<string>(table).where(conditions(values)))
}

/** Executes a change. @returns the number of rows that were deleted or updated */
export async function changedRows(change: {
  executeTakeFirst(): Promise<DeleteResult | UpdateResult>
}): Promise<number> {
  const result = await change.executeTakeFirst()
  return Number('numDeletedRows' in result ? result.numDeletedRows : result.numUpdatedRows)
}

type AnySchema = Record<string, Record<string, unknown>>

/** Disables Kysely's check of names, which needs a known table. The parameters of the functions above are checked instead. */
function untyped(db: Kysely<Schema>): Kysely<AnySchema> {
  return db as unknown as Kysely<AnySchema>
}

function conditions(values: Record<string, unknown>) {
  return ({ and, eb }: ExpressionBuilder<AnySchema, string>) =>
    and(Object.entries(values).map(([column, value]) => eb(column, value === null ? 'is' : '=', value)))
}
