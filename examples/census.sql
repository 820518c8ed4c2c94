-- A statistical office's database, for docs/guide/database.md: a table of people whose income is
-- known, a table of newcomers whose income is not, and a public code table. The rows are those of
-- `sotto demo`.
CREATE TABLE occupations (code TEXT PRIMARY KEY, description TEXT NOT NULL);
INSERT INTO occupations VALUES
  ('manager', 'leads others'), ('professional', 'needs a degree'), ('technician', 'needs training'),
  ('clerk', 'works in an office'), ('sales', 'sells'), ('craft', 'makes or repairs'),
  ('service', 'cares, cooks, cleans, guards'), ('labour', 'everything else');

CREATE TABLE people (
  id INTEGER PRIMARY KEY,
  age INTEGER NOT NULL CHECK (age BETWEEN 0 AND 100),
  education_years INTEGER NOT NULL CHECK (education_years BETWEEN 0 AND 16),
  hours_per_week INTEGER NOT NULL CHECK (hours_per_week BETWEEN 0 AND 100),
  savings REAL NOT NULL CHECK (savings >= 0),
  commute_minutes INTEGER NOT NULL CHECK (commute_minutes BETWEEN 0 AND 120),
  sector TEXT NOT NULL CHECK (sector IN ('private', 'public', 'self-employed', 'none')),
  occupation TEXT REFERENCES occupations (code),
  marital_status TEXT NOT NULL
    CHECK (marital_status IN ('single', 'married', 'divorced', 'widowed')),
  region TEXT NOT NULL CHECK (region IN ('north', 'east', 'south', 'west', 'capital')),
  sex TEXT NOT NULL CHECK (sex IN ('female', 'male')),
  income TEXT CHECK (income IN ('low', 'high'))
);

.import --csv sotto-demo/train.csv rows
INSERT INTO people SELECT rowid, age, education_years, hours_per_week, savings, commute_minutes,
  sector, nullif(occupation, ''), marital_status, region, sex, income FROM rows;
DROP TABLE rows;

.import --csv sotto-demo/test.csv rows
CREATE TABLE newcomers (id INTEGER PRIMARY KEY, age INTEGER, education_years INTEGER,
  hours_per_week INTEGER, savings REAL, commute_minutes INTEGER, sector TEXT, occupation TEXT,
  marital_status TEXT, region TEXT, sex TEXT);
INSERT INTO newcomers SELECT rowid, age, education_years, hours_per_week, savings, commute_minutes,
  sector, nullif(occupation, ''), marital_status, region, sex FROM rows;
CREATE TABLE surveyed AS SELECT newcomers.*, rows.income
  FROM newcomers JOIN rows ON newcomers.id = rows.rowid WHERE newcomers.id % 5 = 0;
DROP TABLE rows;
