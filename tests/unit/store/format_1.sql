BEGIN TRANSACTION;
CREATE TABLE changes (
	seq INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	doc_id TEXT NOT NULL, 
	kind TEXT NOT NULL
)
 STRICT

;
INSERT INTO "changes" VALUES(1,'d1','put');
CREATE TABLE chunks (
	"key" INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT, 
	chunk_id TEXT NOT NULL, 
	doc_id TEXT NOT NULL, 
	text TEXT NOT NULL, 
	title TEXT NOT NULL, 
	section_label TEXT NOT NULL, 
	intent_hint TEXT NOT NULL, 
	is_table INTEGER NOT NULL, 
	table_html TEXT NOT NULL, 
	spans TEXT NOT NULL, 
	chunker_version TEXT NOT NULL, 
	speaker_role TEXT NOT NULL, 
	ingestion_mode TEXT NOT NULL, 
	interview_id TEXT NOT NULL, 
	start_time REAL, 
	end_time REAL, 
	source TEXT NOT NULL, 
	metadata TEXT NOT NULL, 
	added INTEGER NOT NULL, 
	removed INTEGER
)
 STRICT

;
INSERT INTO "chunks" VALUES(1,'d1:chunk_0','d1','some text','','','',0,'','[[0, 9]]','','UNKNOWN','OFFLINE','',NULL,NULL,'','{}',1,NULL);
CREATE TABLE documents (
	doc_id TEXT NOT NULL, 
	digest TEXT NOT NULL, 
	title TEXT NOT NULL, 
	text TEXT NOT NULL, 
	source TEXT NOT NULL, 
	profile TEXT NOT NULL, 
	chunker_version TEXT NOT NULL, 
	body TEXT NOT NULL, 
	seq INTEGER NOT NULL, 
	PRIMARY KEY (doc_id)
)
 STRICT

;
INSERT INTO "documents" VALUES('d1','8cb6194626865629db9cc3c0211e946748da7b26f55be8b1fd2aeec7b478cb44','A title','some text','','','','{"sections": [], "interview_id": "", "ingestion_mode": "OFFLINE", "metadata": {}}',1);
CREATE INDEX chunks_by_removed ON chunks (removed);
CREATE INDEX chunks_by_added ON chunks (added);
CREATE INDEX chunks_by_id ON chunks (chunk_id);
CREATE INDEX chunks_by_doc ON chunks (doc_id);
COMMIT;
