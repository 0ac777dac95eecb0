/* Tables as lists of columns: X(column, type) for each, where the row that is written and
 * read has a member of the column's name. From one list follow the texts of statements, the
 * binding of a row `row` to a query `q`, and the reading of one.
 *
 * Types: int, real, text (borrowed), name (a short text in an array of the row's own). */
#ifndef STORE_COLUMNS_H
#define STORE_COLUMNS_H

#include "store/query.h"

/* In a statement; each ends with a comma. */
#define COLUMN_NAME(column, type) #column ", "
#define COLUMN_MARK(column, type) "?, "
#define COLUMN_SET(column, type) #column " = ?, "

#define COLUMN_BIND(column, type) COLUMN_BIND_##type(q, row->column);
#define COLUMN_BIND_int query_int
#define COLUMN_BIND_real query_real
#define COLUMN_BIND_text query_text
#define COLUMN_BIND_name query_text

#define COLUMN_READ(column, type) COLUMN_READ_##type(q, row->column);
#define COLUMN_READ_int(q, member) (member) = (__typeof__(member))query_get_int(q)
#define COLUMN_READ_real(q, member) (member) = query_get_real(q)
#define COLUMN_READ_text(q, member) (member) = query_get_text(q)
#define COLUMN_READ_name(q, member) query_get_name(q, member, sizeof(member))

#endif
