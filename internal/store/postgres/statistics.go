package postgres

import (
	"context"
	"database/sql"
	"errors"
	"strings"
)

// The planner's statistics hold values of columns, such as names. An analysis makes those of a
// table anew from the rows that there are, and leaves what it has no row for as it was: those of
// a table without rows, and those of an index of an expression in which no row is. A change of a
// column's type drops its statistics, and those of such indexes over it, also where it is to
// the same type, which writes no row anew.

// stale are the columns of text of table $1 whose statistics an analysis may leave as they were,
// as the clauses that drop these.
const stale = `select coalesce(string_agg(distinct format('alter column %I type %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', '), '')
	from pg_attribute a
	where a.attrelid = $1::text::regclass and a.attnum > 0 and not a.attisdropped and a.atttypid in ('text'::regtype, 'bytea'::regtype)
		and ($2 and exists (select 1 from pg_stats s join pg_class c on c.oid = a.attrelid join pg_namespace n on n.oid = c.relnamespace
				where s.schemaname = n.nspname and s.tablename = c.relname and s.attname = a.attname)
			or exists (select 1 from pg_index i join pg_depend d on d.classid = 'pg_class'::regclass and d.objid = i.indexrelid and d.refobjid = i.indrelid
				where i.indrelid = a.attrelid and i.indexprs is not null and d.refobjsubid = a.attnum))`

// views are those that read table $1, with what they are, and a text that reads no table and has
// the same columns.
const views = `select v.oid::regclass::text, pg_get_viewdef(v.oid), (select 'select ' || string_agg(format('null::%s as %I', format_type(a.atttypid, a.atttypmod), a.attname), ', ' order by a.attnum)
		from pg_attribute a where a.attrelid = v.oid and a.attnum > 0)
	from pg_class v where v.relkind = 'v' and v.oid in (select r.ev_class from pg_rewrite r join pg_depend d on d.classid = 'pg_rewrite'::regclass and d.objid = r.oid
		where d.refclassid = 'pg_class'::regclass and d.refobjid = $1::text::regclass)`

// dropStatistics drops the statistics of a table that an analysis would leave as they were.
func dropStatistics(ctx context.Context, conn *sql.Conn, table string) (err error) {
	tx, err := conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = tx.Rollback() // the first error is the one to tell
		}
	}()
	var empty bool
	if err := tx.QueryRowContext(ctx, "select not exists (select 1 from "+table+")").Scan(&empty); err != nil {
		return err
	}
	var clauses string
	if err := tx.QueryRowContext(ctx, stale, table, empty).Scan(&clauses); err != nil || clauses == "" {
		return errors.Join(err, tx.Rollback())
	}
	// A column that a view reads keeps its type. The views read nothing meanwhile, which nobody
	// sees before the end of the transaction.
	before, after, err := aroundViews(ctx, tx, table)
	if err != nil {
		return err
	}
	for _, text := range append(append(before, "alter table "+table+" "+clauses), after...) {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return err
		}
	}
	return tx.Commit()
}

// aroundViews are the statements that free a table of the views that read it, and those that put
// them back.
func aroundViews(ctx context.Context, tx *sql.Tx, table string) (before, after []string, err error) {
	rows, err := tx.QueryContext(ctx, views, table)
	if err != nil {
		return nil, nil, err
	}
	defer rows.Close()
	for rows.Next() {
		var name, is, nothing string
		if err := rows.Scan(&name, &is, &nothing); err != nil {
			return nil, nil, err
		}
		before = append(before, "create or replace view "+name+" as "+nothing)
		after = append(after, "create or replace view "+name+" as "+strings.TrimSuffix(is, ";"))
	}
	return before, after, rows.Err()
}

// rewriteStatistics writes the table of statistics anew, without those that were replaced. Only
// the owner of the database may: for others the server warns, and leaves it as it is.
func rewriteStatistics(ctx context.Context, conn *sql.Conn) error {
	if err := nobodySees(ctx, conn); err != nil {
		return err
	}
	_, err := conn.ExecContext(ctx, "vacuum (full) pg_catalog.pg_statistic")
	return err
}
